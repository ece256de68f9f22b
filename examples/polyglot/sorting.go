// SPDX-License-Identifier: Apache-2.0
// Sorts by hand until its time is over.

package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

//go:noinline
func sortNumbers(n []int) {
	for i := 1; i < len(n); i++ {
		for j := i; j > 0 && n[j-1] > n[j]; j-- {
			n[j-1], n[j] = n[j], n[j-1]
		}
	}
}

//go:noinline
func sortAll(until time.Time) {
	for time.Now().Before(until) {
		n := make([]int, 500)
		for i := range n {
			n[i] = i * 7919 % 503
		}
		sortNumbers(n)
	}
}

func main() {
	ms, _ := strconv.Atoi(os.Args[1])
	sortAll(time.Now().Add(time.Duration(ms) * time.Millisecond))
	fmt.Println("go: done")
}

// SPDX-License-Identifier: Apache-2.0
// Makes garbage all the time, so that much of its time goes by on the stack that
// Go's runtime switches to. Truth: of its processor time main.churn and what it
// calls have at least a tenth; main.spin's caller is main.main; main.twice is inlined.
package main

import (
	"fmt"
	"time"
)

type node struct {
	left, right *node
	pad         [6]int
}

var sink *node

//go:noinline
func churn(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{left: churn(depth - 1), right: churn(depth - 1)}
}

func twice(x uint64) uint64 {
	return x*6364136223846793005 + 1442695040888963407
}

//go:noinline
func spin(n int) (h uint64) {
	for i := 0; i < n; i++ {
		h ^= twice(h + uint64(i))
	}
	return
}

func main() {
	var total uint64
	for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); {
		sink = churn(14)
		total += spin(2000000)
	}
	fmt.Println(total != 1)
}

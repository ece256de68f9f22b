// SPDX-License-Identifier: Apache-2.0
// Counts primes until its time is over.

public class Counting {
    static boolean isPrime(int n) {
        for (int i = 2; i * i <= n; i++)
            if (n % i == 0)
                return false;
        return n > 1;
    }

    static int countPrimes(long until) {
        int found = 0;
        while (System.nanoTime() < until)
            for (int n = 0; n < 20000; n++)
                found += isPrime(n) ? 1 : 0;
        return found;
    }

    public static void main(String[] args) {
        countPrimes(System.nanoTime() + Long.parseLong(args[0]) * 1000000);
        System.out.println("java: done");
    }
}

// SPDX-License-Identifier: Apache-2.0
// Spends its argument in milliseconds: 3 of 4 parts in heavy, 1 in light, by the clock of the
// thread's processor time. Both are called by outer, which main calls.

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

public class Shares {
    static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    static long sum;

    static long heavy(int n) {
        long s = 0;
        for (int i = 0; i < n; i++)
            s += s * 31 ^ i;
        return s;
    }

    static long light(int n) {
        long s = 1;
        for (int i = 0; i < n; i++)
            s += s * 17 ^ i;
        return s;
    }

    static void outer(long until, boolean isHeavy) {
        while (threads.getCurrentThreadCpuTime() < until)
            for (int i = 0; i < 20; i++)
                sum += isHeavy ? heavy(20000) : light(20000);
    }

    public static void main(String[] args) {
        long part = Long.parseLong(args[0]) * 1000000 / 40;
        for (int i = 0; i < 10; i++) {
            long start = threads.getCurrentThreadCpuTime();
            outer(start + 3 * part, true);
            outer(start + 4 * part, false);
        }
        System.out.println("done " + (sum != 42));
    }
}

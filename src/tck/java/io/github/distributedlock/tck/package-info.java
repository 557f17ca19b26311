/**
 * The contract of a store of locks, as tests that every store can run.
 * <p>
 * Extend {@link io.github.distributedlock.tck.LockBackendContractTests}, and
 * {@link io.github.distributedlock.tck.SharedContractTests} as well for a store that
 * offers shared or fair locks, or permits, and say how a backend is made. What a store
 * does not add is reported as skipped, with the reason.
 * {@link io.github.distributedlock.tck.HistoryChecker} finds keys that were held twice in
 * any history of holds.
 * <p>
 * Needs the library's own jar and JUnit Jupiter from 5.12 on with its parameterized tests
 * ({@code org.junit.jupiter:junit-jupiter}), as its POM says. Nothing of the library's
 * own dependencies is needed beyond what the store needs.
 */
package io.github.distributedlock.tck;

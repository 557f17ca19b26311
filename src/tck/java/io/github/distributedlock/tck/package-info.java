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
 * The tests need the library's own jar and JUnit Jupiter from 5.12 on with its
 * parameterized tests ({@code org.junit.jupiter:junit-jupiter}), as the POM says. Of the
 * library's dependencies, the tests need only those of the store.
 */
package io.github.distributedlock.tck;

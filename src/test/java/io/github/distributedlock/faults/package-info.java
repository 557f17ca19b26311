/**
 * What happens to locks when something breaks: real servers, real connections, real
 * processes. The rows make the table of {@code src/docs/reliability.md}.
 * <p>
 * A row is a test in the class of a topic. The row names the fault and the client, and
 * says how to break something, and how to repair the damage, in the middle of a workload:
 *
 * <pre class="code">
 * &#64;EachClient
 * void writesArePaused(Client client) throws Exception {
 *     FaultRow.of("writes paused for half a lease", client).run((trial) -&gt; {
 *         trial.admin((redis) -&gt; redis.clientPause(500, ClientPauseMode.WRITE));
 *     });
 * }
 * </pre>
 *
 * {@link io.github.distributedlock.faults.Trial} is what a fault gets hold of,
 * {@link io.github.distributedlock.faults.Workload} what a fault disturbs,
 * {@link io.github.distributedlock.faults.Outcome} what is measured, and
 * {@link io.github.distributedlock.faults.Promise} what the outcome must be. A row that
 * cannot keep the whole promise says why by {@code promising(…)}; physics is a reason, a
 * fault of ours is not. What is true of one row only is asserted within the fault of that
 * row.
 * <p>
 * A row runs on a server that no other row uses, or by {@code on(…)} on another
 * {@link io.github.distributedlock.faults.Deployment}. A row that is {@code relayed()}
 * can lose, delay and cut single requests and replies, and messages: see
 * {@link io.github.distributedlock.fixtures.Relay}.
 * {@link io.github.distributedlock.faults.RecordedHolder} and
 * {@link io.github.distributedlock.faults.RecordedWaiter} are JVMs of their own, which
 * can be stopped and killed.
 * <p>
 * A test anywhere that needs no workload is a row by
 * {@link io.github.distributedlock.faults.FaultTest}, with a client or a database, and
 * with the assertion as the remark. The class of the test belongs into
 * {@link io.github.distributedlock.faults.FaultTable#TESTS}.
 * <p>
 * {@code -Dlock.faults.trials=20} repeats every fault so often, and
 * {@code -Dlock.faults.log=DEBUG} shows what the library logs meanwhile.
 * {@link io.github.distributedlock.fixtures.Variant} lets all rows run on another server,
 * and with steps that are atomic in another way, but for those that take a single reply.
 */
package io.github.distributedlock.faults;

/**
 * What happens to locks when something breaks: real servers, real connections, real
 * processes. Makes the table of {@code src/docs/reliability.md}.
 * <p>
 * A row is a test in the class of its topic. It names the fault and the client and says
 * how to break something, and to repair it, in the middle of a workload:
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
 * {@link io.github.distributedlock.faults.Workload} what it disturbs,
 * {@link io.github.distributedlock.faults.Outcome} what is measured, and
 * {@link io.github.distributedlock.faults.Promise} what is asserted of it. A row that
 * cannot keep the whole promise says why by {@code promising(…)}; physics is a reason, a
 * fault of ours is not. What is true of one row only is asserted within its fault.
 * <p>
 * A row runs on one server of its own, unless it says {@code on(…)} another
 * {@link io.github.distributedlock.faults.Deployment}. One that is {@code relayed()} can
 * lose, delay and cut single requests and replies, and messages: see
 * {@link io.github.distributedlock.fixtures.Relay}.
 * {@link io.github.distributedlock.faults.RecordedHolder} and
 * {@link io.github.distributedlock.faults.RecordedWaiter} are JVMs of their own, which
 * can be stopped and killed.
 * <p>
 * A test anywhere that needs no workload is a row by
 * {@link io.github.distributedlock.faults.FaultTest}, with its client or database, and
 * with what it asserts as the remark. Its class belongs into
 * {@link io.github.distributedlock.faults.FaultTable#TESTS}.
 * <p>
 * {@code -Dlock.faults.trials=20} repeats every fault so often, and
 * {@code -Dlock.faults.log=DEBUG} shows what the library has to say about it.
 * {@link io.github.distributedlock.fixtures.Variant} lets all rows run on another server,
 * and with steps that are atomic in another way, but for those that take a single reply.
 */
package io.github.distributedlock.faults;

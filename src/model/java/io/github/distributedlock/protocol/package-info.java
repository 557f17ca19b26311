/**
 * Explicit-state models of what the Redis backend and the engine around it do, step by
 * step, with every order of steps and every fault that a run may meet. The models stand
 * next to the code because a change of the code changes a model, too.
 * <p>
 * {@code Protocol} is the whole protocol. With Lua, a step is one command. Without Lua, a
 * step takes several commands. {@code CompareAndSet} then counts as one command, in
 * whichever way the server compares:
 * <ul>
 * <li>A script, {@code DELEX}, {@code SET IFEQ} and the like are one command.</li>
 * <li>{@code WATCH}, {@code GET}, {@code MULTI}, a change and {@code EXEC} count as one
 * command at the moment of the {@code EXEC}: an {@code EXEC} changes something only if no
 * client has written to the key since the {@code WATCH}, so the key still has the value
 * that {@code GET} found. If {@code GET} found another value than the expected one, all
 * count as one command at the moment of the {@code GET}. If the {@code EXEC} is refused
 * because a client has written, nothing was done, and all is done anew. A lost connection
 * loses the transaction, so only the {@code EXEC} can be carried out late.</li>
 * <li>For some servers, a key that runs out in between was not written. The commands then
 * count as one just before the end of the key: a client that finds the key free in
 * between can take the key only by a write, which the {@code EXEC} would notice. A
 * {@code PEXPIRE} finds nothing and fails, as after the end.</li>
 * <li>With best effort, {@code CompareAndSet} is two commands: one compares, and one
 * changes the key, whatever value the key has by then. Neither command is late, so the
 * key does not run out in between.</li>
 * </ul>
 * The server of {@code Protocol} with Lua, {@code GrantProtocol}, {@code SharedProtocol},
 * {@code FairProtocol}, {@code KeptProtocol} and {@code SilenceProtocol} is
 * {@code ModelKey}: a {@code KeyState}, and each command a {@code KeyStep}. A rule of the
 * server is broken by {@code MutantStep}, which overrides one function.
 * {@code PlainCommands} has rules of its own: between two commands of a step without Lua,
 * a key is in states that {@code KeyState} does not know.
 * <p>
 * Three small models are about more than one exclusive lock can show, with Lua, and with
 * each command and its answer in one step: {@code FairProtocol} is about tickets,
 * {@code SharedProtocol} about readers and writers, and {@code CollectProtocol} about
 * requests for two keys. {@code GrantProtocol} is about locks that arrive with a message,
 * with commands, answers and messages that are late, and with time. {@code KeptProtocol}
 * is about locks that stay with their JVM until another one asks. Three more models need
 * numbers. {@code SilenceProtocol} shows what of the waiters need not be written each
 * time. {@code RenewalProtocol} shows why a renewal never takes time from a lease in
 * which a holder believes. {@code Places} shows why no waiter is passed by more often
 * than there are others, though places may be stale or equal.
 */
@NullMarked
package io.github.distributedlock.protocol;

import org.jspecify.annotations.NullMarked;

/**
 * How a step is made one: a change of a lock only if the lock is what it is thought to
 * be. {@code AtomicitySelector} finds the best way that the server allows; {@code Steps}
 * are the steps, as scripts ({@code LuaSteps}, whose scripts are beside them) or by plain
 * commands around one {@code CompareAndSet} ({@code PlainSteps}).
 */
@NullMarked
package io.github.distributedlock.backend.redis.atomic;

import org.jspecify.annotations.NullMarked;

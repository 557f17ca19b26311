/**
 * Redis behind the storage SPI. {@code AtomicitySelector} finds out how this server keeps
 * a step atomic: by scripts ({@code LuaSteps}), or by plain commands around one that
 * compares and sets ({@code PlainSteps}). {@code KeyNames} and {@code LockCodec} know how
 * locks are written there.
 */
@NullMarked
package io.github.distributedlock.backend.redis;

import org.jspecify.annotations.NullMarked;

package io.github.distributedlock.docs

// tag::with-lock[]
import io.github.distributedlock.DistributedLock
import io.github.distributedlock.LockRequest
import io.github.distributedlock.reactive.ReactiveDistributedLock
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.reactor.awaitSingleOrNull
import kotlinx.coroutines.reactor.mono

suspend fun <T> DistributedLock.withLock(key: String, block: suspend CoroutineScope.() -> T): T =
	ReactiveDistributedLock(this).withLock(LockRequest.of(key), block)

@Suppress("UNCHECKED_CAST") // Null is what an empty Mono stands for.
suspend fun <T> ReactiveDistributedLock.withLock(request: LockRequest, block: suspend CoroutineScope.() -> T): T =
	execute(request, mono<Any>(currentCoroutineContext().minusKey(Job)) { block() }).awaitSingleOrNull() as T
// end::with-lock[]

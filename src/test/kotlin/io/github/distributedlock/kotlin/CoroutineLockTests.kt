package io.github.distributedlock.kotlin

import io.github.distributedlock.LockHandle
import io.github.distributedlock.LockLostException
import io.github.distributedlock.LockNotAcquiredException
import io.github.distributedlock.fixtures.Patience
import io.github.distributedlock.fixtures.TestRedis
import io.github.distributedlock.reactive.LockContext
import java.time.Duration
import java.util.concurrent.Executors
import java.util.concurrent.atomic.AtomicInteger
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.launch
import kotlinx.coroutines.reactor.ReactorContext
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.awaitility.Awaitility.await
import org.junit.jupiter.api.Test

const val LOCK = "lock:{order:1}"

/**
 * What coroutines are promised, whether a suspend function has the annotation or a block
 * is locked in code. The lock `order:1` is in a real Redis.
 */
abstract class CoroutineLockTests(private val redis: TestRedis) {

	abstract suspend fun <T> locked(body: suspend () -> T): T

	abstract suspend fun lockedWithoutAWait(): String

	abstract suspend fun cancelledByALoss(body: suspend () -> Unit)

	abstract suspend fun failedByALoss(body: suspend () -> Unit)

	fun isHeld(): Boolean = redis.admin().exists(LOCK)

	@Test
	fun `held from before the body until the result`() = coroutine {
		val inside = locked {
			yield()
			isHeld()
		}
		assertThat(inside).isTrue()
		assertThat(isHeld()).isFalse()
	}

	@Test
	fun `coroutines of one thread exclude each other`() = coroutine {
		val inside = AtomicInteger()
		Executors.newSingleThreadExecutor().asCoroutineDispatcher().use { thread ->
			val seen = (1..20).map {
				async(thread) {
					locked {
						val number = inside.incrementAndGet()
						yield()
						inside.decrementAndGet()
						number
					}
				}
			}.awaitAll()
			assertThat(seen).hasSize(20).containsOnly(1)
		}
	}

	@Test
	fun `body re-enters and tells its lock, also on another thread`() = coroutine {
		val keys = locked { withContext(Dispatchers.IO) { locked { currentLock().keys() } } }
		assertThat(keys).containsExactly("order:1")
	}

	@Test
	fun `exception is the one that was thrown`() = coroutine {
		val thrown = runCatching { locked { throw IllegalStateException("no") } }.exceptionOrNull()
		assertThat(thrown).isInstanceOf(IllegalStateException::class.java).hasMessage("no")
		assertThat(isHeld()).isFalse()
	}

	@Test
	fun `busy lock is an exception`() = coroutine {
		val thrown = locked { runCatching { withoutChain { lockedWithoutAWait() } }.exceptionOrNull() }
		assertThat(thrown).isInstanceOf(LockNotAcquiredException::class.java)
	}

	@Test
	fun `cancelled coroutine gives the lock back`() = coroutine {
		val begun = CompletableDeferred<Unit>()
		val cancelled = CompletableDeferred<Boolean>()
		val job = launch {
			locked {
				begun.complete(Unit)
				untilCancelled(cancelled)
			}
		}
		begun.await()
		assertThat(isHeld()).isTrue()
		job.cancelAndJoin()
		assertThat(cancelled.await()).isTrue()
		await().untilAsserted { assertThat(isHeld()).isFalse() }
	}

	@Test
	fun `loss cancels the body`() = coroutine {
		val cancelled = CompletableDeferred<Boolean>()
		val thrown = runCatching { cancelledByALoss { untilCancelled(cancelled) { loseLock() } } }.exceptionOrNull()
		assertThat(thrown).isInstanceOf(LockLostException::class.java)
		assertThat(cancelled.await()).isTrue()
	}

	@Test
	fun `loss takes the place of the result`() = coroutine {
		val thrown = runCatching { failedByALoss { loseLock() } }.exceptionOrNull()
		assertThat(thrown).isInstanceOf(LockLostException::class.java)
	}

	fun coroutine(test: suspend CoroutineScope.() -> Unit) {
		runBlocking { withTimeout(Patience.PATIENCE.toMillis()) { test() } }
	}

	suspend fun currentLock(): LockHandle =
		LockContext.current(currentCoroutineContext()[ReactorContext]!!.context).orElseThrow()

	/**
	 * Runs a body as a coroutine of somebody else.
	 */
	suspend fun <T> withoutChain(body: suspend () -> T): T =
		withContext(ReactorContext(reactor.util.context.Context.empty())) { body() }

	/**
	 * Asks the store after the loss, so that the holder knows at once.
	 */
	private suspend fun loseLock() {
		val handle = currentLock()
		withContext(Dispatchers.IO) {
			assertThat(redis.admin().del(LOCK)).isEqualTo(1)
			assertThat(handle.extend(Duration.ofMinutes(1))).isFalse()
		}
	}

	private suspend fun untilCancelled(cancelled: CompletableDeferred<Boolean>, before: suspend () -> Unit = {}) {
		try {
			before()
			awaitCancellation()
		}
		catch (ex: CancellationException) {
			cancelled.complete(true)
			throw ex
		}
	}

}

package io.github.distributedlock.docs

import io.github.distributedlock.DistributedLock
import io.github.distributedlock.LockLostException
import io.github.distributedlock.LockNotAcquiredException
import io.github.distributedlock.LockRequest
import io.github.distributedlock.OnLost
import io.github.distributedlock.engine.LockEngine
import io.github.distributedlock.fixtures.Patience
import io.github.distributedlock.fixtures.TestRedis
import io.github.distributedlock.reactive.LockContext
import io.github.distributedlock.reactive.ReactiveDistributedLock
import java.time.Duration
import java.util.Collections
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
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.reactor.ReactorContext
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.awaitility.Awaitility.await
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.extension.RegisterExtension
import org.springframework.context.ConfigurableApplicationContext

private const val STORED = "lock:{order:1}"

/**
 * The recipe for coroutines does what the annotation does on a suspend function.
 */
class WithLockTests {

	companion object {

		@JvmField
		@RegisterExtension
		val redis = TestRedis()

		private lateinit var application: ConfigurableApplicationContext

		private val lock get() = application.getBean(DistributedLock::class.java)

		@JvmStatic
		@BeforeAll
		fun start() {
			application = DocsApplication.start(redis.server())
		}

		@JvmStatic
		@AfterAll
		fun stop() = application.close()

	}

	@Test
	fun `held from before the block until its end`() = test {
		val inside = lock.withLock("order:1") {
			yield()
			redis.admin().exists(STORED)
		}
		assertThat(inside).isTrue()
		assertThat(redis.admin().exists(STORED)).isFalse()
	}

	@Test
	fun `coroutines of one thread exclude each other on that thread`() = test {
		val inside = AtomicInteger()
		val threads = Collections.synchronizedSet(HashSet<Thread>())
		Executors.newSingleThreadExecutor().asCoroutineDispatcher().use { thread ->
			val seen = (1..20).map {
				async(thread) {
					lock.withLock("order:1") {
						val number = inside.incrementAndGet()
						yield()
						threads.add(Thread.currentThread())
						inside.decrementAndGet()
						number
					}
				}
			}.awaitAll()
			assertThat(seen).hasSize(20).containsOnly(1)
			assertThat(threads).hasSize(1)
		}
	}

	@Test
	fun `block re-enters and tells its lock`() = test {
		val keys = lock.withLock("order:1") {
			withContext(Dispatchers.IO) {
				lock.withLock("order:1") { current().keys() }
			}
		}
		assertThat(keys).containsExactly("order:1")
	}

	@Test
	fun `null and nothing are results`() = test {
		assertThat(lock.withLock<String?>("order:1") { null }).isNull()
		lock.withLock("order:1") { delay(1) }
		assertThat(redis.admin().exists(STORED)).isFalse()
	}

	@Test
	fun `exception is the one that was thrown`() = test {
		val thrown = runCatching { lock.withLock("order:1") { throw IllegalStateException("no") } }.exceptionOrNull()
		assertThat(thrown).isInstanceOf(IllegalStateException::class.java).hasMessage("no")
		assertThat(redis.admin().exists(STORED)).isFalse()
	}

	@Test
	fun `busy lock is an exception`() = test {
		val none = LockRequest.of("order:1").waitTime(Duration.ZERO)
		Patience.get(lock.acquireAsync("order:1"), "the lock").use {
			val thrown = runCatching { client().withLock(none) { "never" } }.exceptionOrNull()
			assertThat(thrown).isInstanceOf(LockNotAcquiredException::class.java)
		}
	}

	@Test
	fun `cancelled coroutine gives the lock back`() = test {
		val begun = CompletableDeferred<Unit>()
		val cancelled = CompletableDeferred<Boolean>()
		val job = launch {
			lock.withLock("order:1") {
				begun.complete(Unit)
				try {
					awaitCancellation()
				}
				catch (ex: CancellationException) {
					cancelled.complete(true)
					throw ex
				}
			}
		}
		begun.await()
		assertThat(redis.admin().exists(STORED)).isTrue()
		job.cancelAndJoin()
		assertThat(cancelled.await()).isTrue()
		await().untilAsserted { assertThat(redis.admin().exists(STORED)).isFalse() }
	}

	/**
	 * At any moment: while it waits, when the lock arrives, in the block, at the release.
	 */
	@Test
	fun `coroutine cancelled at any moment leaves nothing behind`() = test {
		repeat(300) {
			val job = launch(Dispatchers.Default) { lock.withLock("order:1") { yield() } }
			repeat(it % 30) { yield() }
			job.cancelAndJoin()
		}
		val engine = application.getBean(LockEngine::class.java)
		await().untilAsserted {
			assertThat(engine.requestsWaiting()).isZero()
			assertThat(engine.keysHeld()).isZero()
			assertThat(redis.admin().exists(STORED)).isFalse()
		}
	}

	@Test
	fun `loss cancels the block`() = test {
		val cancelled = CompletableDeferred<Boolean>()
		val thrown = runCatching {
			client().onLost(OnLost.INTERRUPT).withLock(LockRequest.of("order:1")) {
				try {
					loseLock()
					awaitCancellation()
				}
				catch (ex: CancellationException) {
					cancelled.complete(true)
					throw ex
				}
			}
		}.exceptionOrNull()
		assertThat(thrown).isInstanceOf(LockLostException::class.java)
		assertThat(cancelled.await()).isTrue()
	}

	@Test
	fun `loss takes the place of the result`() = test {
		val thrown = runCatching {
			client().onLost(OnLost.THROW).withLock(LockRequest.of("order:1")) { loseLock() }
		}.exceptionOrNull()
		assertThat(thrown).isInstanceOf(LockLostException::class.java)
	}

	private fun client() = ReactiveDistributedLock(lock)

	private suspend fun current() =
		LockContext.current(currentCoroutineContext()[ReactorContext]!!.context).orElseThrow()

	/**
	 * The store is asked, so that the holder knows at once.
	 */
	private suspend fun loseLock() {
		val handle = current()
		withContext(Dispatchers.IO) {
			assertThat(redis.admin().del(STORED)).isEqualTo(1)
			assertThat(handle.extend(Duration.ofMinutes(1))).isFalse()
		}
	}

	private fun test(body: suspend CoroutineScope.() -> Unit) {
		runBlocking { withTimeout(Patience.PATIENCE.toMillis()) { body() } }
	}

}

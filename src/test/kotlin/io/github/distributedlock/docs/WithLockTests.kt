package io.github.distributedlock.docs

import io.github.distributedlock.DistributedLock
import io.github.distributedlock.LockRequest
import io.github.distributedlock.OnLost
import io.github.distributedlock.engine.LockEngine
import io.github.distributedlock.fixtures.TestRedis
import io.github.distributedlock.kotlin.CoroutineLockTests
import io.github.distributedlock.reactive.ReactiveDistributedLock
import java.time.Duration
import java.util.concurrent.Executors
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.awaitility.Awaitility.await
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.extension.RegisterExtension
import org.springframework.context.ConfigurableApplicationContext

/**
 * The recipe for coroutines does what the annotation does on a suspend function.
 */
class WithLockTests : CoroutineLockTests(redis) {

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

	override suspend fun <T> locked(body: suspend () -> T): T = lock.withLock("order:1") { body() }

	override suspend fun lockedWithoutAWait(): String =
		client().withLock(LockRequest.of("order:1").waitTime(Duration.ZERO)) { "never" }

	override suspend fun cancelledByALoss(body: suspend () -> Unit) =
		client().onLost(OnLost.INTERRUPT).withLock(LockRequest.of("order:1")) { body() }

	override suspend fun failedByALoss(body: suspend () -> Unit) =
		client().onLost(OnLost.THROW).withLock(LockRequest.of("order:1")) { body() }

	@Test
	fun `block stays on the thread of its dispatcher`() = coroutine {
		Executors.newSingleThreadExecutor().asCoroutineDispatcher().use { dispatcher ->
			withContext(dispatcher) {
				val thread = Thread.currentThread()
				val after = lock.withLock("order:1") {
					yield()
					Thread.currentThread()
				}
				assertThat(after).isSameAs(thread)
			}
		}
	}

	@Test
	fun `null and nothing are results`() = coroutine {
		assertThat(lock.withLock<String?>("order:1") { null }).isNull()
		lock.withLock("order:1") { delay(1) }
		assertThat(isHeld()).isFalse()
	}

	/**
	 * At any moment: while it waits, when the lock arrives, in the block, at the release.
	 */
	@Test
	fun `coroutine cancelled at any moment leaves nothing behind`() = coroutine {
		repeat(300) {
			val job = launch(Dispatchers.Default) { lock.withLock("order:1") { yield() } }
			repeat(it % 30) { yield() }
			job.cancelAndJoin()
		}
		val engine = application.getBean(LockEngine::class.java)
		await().untilAsserted {
			assertThat(engine.requestsWaiting()).isZero()
			assertThat(engine.keysHeld()).isZero()
			assertThat(isHeld()).isFalse()
		}
	}

	private fun client() = ReactiveDistributedLock(lock)

}

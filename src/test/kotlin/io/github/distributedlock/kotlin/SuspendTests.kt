package io.github.distributedlock.kotlin

import io.github.distributedlock.LockException
import io.github.distributedlock.LockHandle
import io.github.distributedlock.LockLostException
import io.github.distributedlock.LockNotAcquiredException
import io.github.distributedlock.OnLost
import io.github.distributedlock.annotation.DistributedLock
import io.github.distributedlock.annotation.IfBusy
import io.github.distributedlock.autoconfigure.Contexts
import io.github.distributedlock.fixtures.Patience
import io.github.distributedlock.fixtures.TestRedis
import io.github.distributedlock.reactive.LockContext
import io.micrometer.context.ContextSnapshot
import io.micrometer.context.ContextSnapshotFactory
import java.time.Duration
import java.util.concurrent.Executors
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.AbstractCoroutineContextElement
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.ThreadContextElement
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.reactor.ReactorContext
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.suspendCancellableCoroutine
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
import org.springframework.context.annotation.Import
import org.springframework.scheduling.annotation.EnableScheduling
import org.springframework.scheduling.annotation.Scheduled

private const val LOCK = "lock:{order:1}"

/**
 * Kotlin's functions, whose locks are in a real Redis.
 */
class SuspendTests {

	companion object {

		@JvmField
		@RegisterExtension
		val redis = TestRedis()

		private lateinit var application: ConfigurableApplicationContext

		@JvmStatic
		@BeforeAll
		fun start() {
			application = Contexts.started(redis.port(), Orders::class.java)
		}

		@JvmStatic
		@AfterAll
		fun stop() = application.close()

	}

	@Test
	fun `held from before the body until the result`() = with { orders ->
		val inside = orders.pay("1") {
			yield()
			redis.admin().exists(LOCK)
		}
		assertThat(inside).isTrue()
		assertThat(redis.admin().exists(LOCK)).isFalse()
	}

	@Test
	fun `coroutines of one thread exclude each other`() = with { orders ->
		val inside = AtomicInteger()
		Executors.newSingleThreadExecutor().asCoroutineDispatcher().use { thread ->
			val seen = (1..20).map {
				async(thread) {
					orders.pay("1") {
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
	fun `coroutine re-enters what it holds`() = with { orders ->
		assertThat(orders.pay("1") { orders.pay("1") { "inside" } }).isEqualTo("inside")
	}

	@Test
	fun `coroutines that it starts re-enter, too`() = with { orders ->
		val inside = orders.pay("1") {
			coroutineScope { async(Dispatchers.IO) { orders.pay("1") { "inside" } }.await() }
		}
		assertThat(inside).isEqualTo("inside")
	}

	@Test
	fun `coroutine tells its lock`() = with { orders ->
		val keys = orders.pay("1") {
			val context = currentCoroutineContext()[ReactorContext]!!.context
			LockContext.current(context).orElseThrow().keys()
		}
		assertThat(keys).containsExactly("order:1")
	}

	/**
	 * As with the element that Spring Framework 7 has for it.
	 */
	@Test
	fun `thread tells the lock where its thread-locals are restored`() = with { orders ->
		val keys = orders.pay("1") {
			withContext(Dispatchers.IO + RestoredThreadLocals()) {
				delay(1)
				LockHandle.current().orElseThrow().keys()
			}
		}
		assertThat(keys).containsExactly("order:1")
	}

	@Test
	fun `exception is the one that was thrown`() = with { orders ->
		val thrown = runCatching { orders.pay("1") { throw IllegalStateException("no") } }.exceptionOrNull()
		assertThat(thrown).isInstanceOf(IllegalStateException::class.java).hasMessage("no")
		assertThat(redis.admin().exists(LOCK)).isFalse()
	}

	@Test
	fun `function without a result`() = with { orders ->
		val done = AtomicInteger()
		orders.run("1") { done.incrementAndGet() }
		assertThat(done).hasValue(1)
	}

	@Test
	fun `skipped call is null`() = with { orders ->
		val other = orders.pay("1") { withoutChain { orders.payIfFree("1") } }
		assertThat(other).isNull()
		assertThat(orders.payIfFree("1")).isEqualTo("paid")
	}

	@Test
	fun `fallback is a suspend function too`() = with { orders ->
		val other = orders.pay("1") { withoutChain { orders.payOrNot("1") } }
		assertThat(other).isEqualTo("not paid: LockNotAcquiredException")
	}

	@Test
	fun `busy lock is an exception`() = with { orders ->
		val thrown = orders.pay("1") { runCatching { withoutChain { orders.payNow("1") } }.exceptionOrNull() }
		assertThat(thrown).isInstanceOf(LockNotAcquiredException::class.java)
	}

	@Test
	fun `cancelled coroutine gives the lock back`() = with { orders ->
		val begun = CompletableDeferred<Unit>()
		val job = launch {
			orders.pay("1") {
				begun.complete(Unit)
				CompletableDeferred<Unit>().await()
			}
		}
		begun.await()
		assertThat(redis.admin().exists(LOCK)).isTrue()
		job.cancelAndJoin()
		await().untilAsserted { assertThat(redis.admin().exists(LOCK)).isFalse() }
	}

	@Test
	fun `handler of a cancellation that throws keeps no lock`() = with { orders ->
		val begun = CompletableDeferred<Unit>()
		val job = launch {
			orders.pay("1") {
				suspendCancellableCoroutine<Unit> {
					it.invokeOnCancellation { throw AssertionError("theirs") }
					begun.complete(Unit)
				}
			}
		}
		begun.await()
		job.cancelAndJoin()
		await().untilAsserted { assertThat(redis.admin().exists(LOCK)).isFalse() }
	}

	@Test
	fun `loss cancels the coroutine`() = with { orders ->
		val cancelled = CompletableDeferred<Boolean>()
		val thrown = runCatching {
			orders.payWhileHeld("1") {
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
	fun `loss takes the place of the result`() = with { orders ->
		val thrown = runCatching { orders.payIfHeld("1") { loseLock() } }.exceptionOrNull()
		assertThat(thrown).isInstanceOf(LockLostException::class.java)
	}

	/**
	 * Coroutines without a dispatcher resume each other on the thread on which they begin.
	 */
	@Test
	fun `coroutine that is resumed inside of a locked one does not re-enter`() = with { orders ->
		val signal = CompletableDeferred<Unit>()
		val gate = CompletableDeferred<Unit>()
		val other = async(Dispatchers.Unconfined) {
			signal.await()
			orders.payIfFreeAndBlock("1")
		}
		val locked = async(Dispatchers.Unconfined) {
			orders.pay("1") {
				signal.complete(Unit)
				gate.await()
			}
		}
		assertThat(other.await()).isNull()
		gate.complete(Unit)
		locked.await()
	}

	@Test
	fun `flow holds the lock while it is collected`() = with { orders ->
		for (flow in listOf(orders.flow("1"), orders.flowLater("1"))) {
			assertThat(redis.admin().exists(LOCK)).isFalse()
			assertThat(flow.toList()).containsExactly(true, true)
			assertThat(redis.admin().exists(LOCK)).isFalse()
		}
	}

	/**
	 * The scheduler calls it again for each run.
	 */
	@Test
	fun `scheduled function holds the lock`() {
		Contexts.withRedis().withPropertyValues("spring.data.redis.port=${redis.port()}")
			.withUserConfiguration(Schedule::class.java)
			.run { context ->
				val runs = context.getBean(Nightly::class.java).runs()
				repeat(2) { assertThat(runs.poll(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue() }
			}
	}

	private fun with(test: suspend kotlinx.coroutines.CoroutineScope.(Orders) -> Unit) {
		runBlocking {
			withTimeout(Patience.PATIENCE.toMillis()) { test(application.getBean(Orders::class.java)) }
		}
	}

	/**
	 * The store is asked, so that the holder knows at once.
	 */
	private suspend fun loseLock() {
		val handle = LockContext.current(currentCoroutineContext()[ReactorContext]!!.context).orElseThrow()
		withContext(Dispatchers.IO) {
			assertThat(redis.admin().del(LOCK)).isEqualTo(1)
			assertThat(handle.extend(Duration.ofMinutes(1))).isFalse()
		}
	}

	/**
	 * As a coroutine of somebody else.
	 */
	private suspend fun <T> withoutChain(body: suspend () -> T): T {
		return withContext(ReactorContext(reactor.util.context.Context.empty())) { body() }
	}

	private class RestoredThreadLocals : AbstractCoroutineContextElement(Key), ThreadContextElement<ContextSnapshot.Scope> {

		companion object Key : CoroutineContext.Key<RestoredThreadLocals>

		override fun updateThreadContext(context: CoroutineContext): ContextSnapshot.Scope =
			ContextSnapshotFactory.builder().build().captureFrom(context[ReactorContext]!!.context).setThreadLocals()

		override fun restoreThreadContext(context: CoroutineContext, oldState: ContextSnapshot.Scope) = oldState.close()

	}

	open class Orders {

		@DistributedLock(key = ["order:#{#id}"], waitTime = "60s")
		open suspend fun <T> pay(id: String, body: suspend () -> T): T = body()

		@DistributedLock(key = ["order:#{#id}"], waitTime = "60s")
		open suspend fun run(id: String, body: suspend () -> Unit) {
			body()
		}

		@DistributedLock(key = ["order:#{#id}"], onLost = OnLost.INTERRUPT)
		open suspend fun payWhileHeld(id: String, body: suspend () -> Unit) {
			body()
		}

		@DistributedLock(key = ["order:#{#id}"], onLost = OnLost.THROW)
		open suspend fun payIfHeld(id: String, body: suspend () -> Unit) {
			body()
		}

		@DistributedLock(key = ["order:#{#id}"], ifBusy = IfBusy.SKIP)
		open fun payIfFreeAndBlock(id: String): String? = "paid"

		@DistributedLock(key = ["order:#{#id}"], waitTime = "0")
		open suspend fun payNow(id: String): String = "paid"

		@DistributedLock(key = ["order:#{#id}"], ifBusy = IfBusy.SKIP)
		open suspend fun payIfFree(id: String): String? = "paid"

		@DistributedLock(key = ["order:#{#id}"], waitTime = "0", fallback = "notPaid")
		open suspend fun payOrNot(id: String): String = "paid"

		suspend fun notPaid(id: String, failure: LockException): String {
			yield()
			return "not paid: ${failure.javaClass.simpleName}"
		}

		@DistributedLock(key = ["order:#{#id}"], waitTime = "60s")
		open fun flow(id: String): Flow<Boolean> = flow {
			emit(redis.admin().exists(LOCK))
			yield()
			emit(redis.admin().exists(LOCK))
		}

		@DistributedLock(key = ["order:#{#id}"], waitTime = "60s")
		open suspend fun flowLater(id: String): Flow<Boolean> = flow(id)

	}

	@EnableScheduling
	@Import(Nightly::class)
	open class Schedule

	open class Nightly {

		private val runs = LinkedBlockingQueue<Boolean>()

		// Beans have a proxy, whose fields are empty.
		open fun runs() = runs

		@Scheduled(fixedDelay = 20)
		@DistributedLock(key = ["'order:1'"], waitTime = "60s")
		open suspend fun run() {
			yield()
			runs.add(redis.admin().exists(LOCK))
		}

	}

}

package io.github.distributedlock.kotlin

import io.github.distributedlock.LockException
import io.github.distributedlock.LockHandle
import io.github.distributedlock.LockNotAcquiredException
import io.github.distributedlock.OnLost
import io.github.distributedlock.annotation.DistributedLock
import io.github.distributedlock.annotation.IfBusy
import io.github.distributedlock.autoconfigure.Contexts
import io.github.distributedlock.fixtures.Patience
import io.github.distributedlock.fixtures.TestRedis
import io.micrometer.context.ContextSnapshot
import io.micrometer.context.ContextSnapshotFactory
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.AbstractCoroutineContextElement
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.ThreadContextElement
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.reactor.ReactorContext
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.coroutines.withContext
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

/**
 * Kotlin's functions, whose locks are in a real Redis.
 */
class SuspendTests : CoroutineLockTests(redis) {

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

	private val orders = application.getBean(Orders::class.java)

	override suspend fun <T> locked(body: suspend () -> T): T = orders.pay("1", body)

	override suspend fun lockedWithoutAWait(): String = orders.payNow("1")

	override suspend fun cancelledByALoss(body: suspend () -> Unit) = orders.payWhileHeld("1", body)

	override suspend fun failedByALoss(body: suspend () -> Unit) = orders.payIfHeld("1", body)

	@Test
	fun `coroutines that it starts re-enter, too`() = coroutine {
		val inside = orders.pay("1") {
			coroutineScope { async(Dispatchers.IO) { orders.pay("1") { "inside" } }.await() }
		}
		assertThat(inside).isEqualTo("inside")
	}

	/**
	 * As with the element that Spring Framework 7 has for that context.
	 */
	@Test
	fun `thread tells the lock where its thread-locals are restored`() = coroutine {
		val keys = orders.pay("1") {
			withContext(Dispatchers.IO + RestoredThreadLocals()) {
				delay(1)
				LockHandle.current().orElseThrow().keys()
			}
		}
		assertThat(keys).containsExactly("order:1")
	}

	@Test
	fun `function without a result`() = coroutine {
		val done = AtomicInteger()
		orders.run("1") { done.incrementAndGet() }
		assertThat(done).hasValue(1)
	}

	@Test
	fun `skipped call is null`() = coroutine {
		val other = orders.pay("1") { withoutChain { orders.payIfFree("1") } }
		assertThat(other).isNull()
		assertThat(orders.payIfFree("1")).isEqualTo("paid")
	}

	@Test
	fun `fallback is a suspend function too`() = coroutine {
		val other = orders.pay("1") { withoutChain { orders.payOrNot("1") } }
		assertThat(other).isEqualTo("not paid: LockNotAcquiredException")
	}

	@Test
	fun `handler of a cancellation that throws keeps no lock`() = coroutine {
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

	/**
	 * Coroutines without a dispatcher resume each other on the thread on which they begin.
	 */
	@Test
	fun `coroutine resumed inside of a locked one does not re-enter`() = coroutine {
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
	fun `flow holds the lock while it is collected`() = coroutine {
		for (flow in listOf(orders.flow("1"), orders.flowLater("1"))) {
			assertThat(redis.admin().exists(LOCK)).isFalse()
			assertThat(flow.toList()).containsExactly(true, true)
			assertThat(redis.admin().exists(LOCK)).isFalse()
		}
	}

	/**
	 * The scheduler calls the function again for each run.
	 */
	@Test
	fun `scheduled function holds the lock`() {
		Contexts.withRedis(redis.port())
			.withUserConfiguration(Schedule::class.java)
			.run { context ->
				val runs = context.getBean(Nightly::class.java).runs()
				repeat(2) { assertThat(runs.poll(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue() }
			}
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

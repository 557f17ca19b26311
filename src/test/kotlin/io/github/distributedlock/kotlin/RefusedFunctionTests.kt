package io.github.distributedlock.kotlin

import io.github.distributedlock.DistributedLock as Locks
import io.github.distributedlock.annotation.DistributedLock
import io.github.distributedlock.annotation.IfBusy
import io.github.distributedlock.autoconfigure.Contexts
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Deferred
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.springframework.beans.factory.annotation.Autowired
import reactor.core.publisher.Mono
import java.util.concurrent.BlockingQueue
import java.util.concurrent.LinkedBlockingQueue

/**
 * Kotlin's functions that cannot work are refused at start-up.
 */
class RefusedFunctionTests {

	@Test
	fun `result of Kotlin is refused`() = refused(WithResult::class.java,
		"the method is a suspend function that returns kotlin.Result, which any proxy wraps in another one",
		"return the value, and throw what fails")

	@Test
	fun `reactive result of a suspend function is refused`() = refused(Twice::class.java,
		"the method is a suspend function that returns reactor.core.publisher.Mono, which any proxy of Spring's unwraps",
		"return the value, or a Flow")

	@Test
	fun `skipped call of a function that is never null is refused`() {
		refused(NeverNull::class.java, "NeverNull.pay(): ifBusy = SKIP has no result to return",
			"let it be a function that returns String? (null then says skipped)")
		refused(NeverNullQueue::class.java, "NeverNullQueue.orders(): ifBusy = SKIP has no result to return",
			"let it be a function that returns BlockingQueue? (null then says skipped)")
		refused(NeverNullBlocking::class.java, "NeverNullBlocking.pay(): ifBusy = SKIP has no result to return",
			"let it be a function that returns String? (null then says skipped)")
	}

	@Test
	fun `skipped getter of a property that is never null is refused`() =
		refused(Property::class.java, "Property.getRate(): ifBusy = SKIP has no result to return",
			"whose result is never null", "let it be a function")

	@Test
	fun `future inside of a suspend function is refused`() =
		refused(Later::class.java, "Later.pay(): the method returns a Kotlin job", "return CompletableFuture")

	@Test
	fun `fallback that suspends, or does not, as the function does`() {
		refused(BlockingFallback::class.java, "fits no method; there is busy(String)",
			"write one suspend function busy with the parameters of pay(String)")
		refused(SuspendingFallback::class.java, "fits no method; there is suspend busy(String)",
			"write one busy with the parameters of pay(String)")
		refused(FallbackOfAnotherType::class.java, "fallback = \"busy\" returns java.lang.Integer (let it return java.lang.String")
	}

	@Test
	fun `function of a companion object is refused`() =
		refused(InCompanion::class.java, "in the companion object of", "a companion object is no bean", "move the method into the class")

	@Test
	fun `function of a companion object with a name is refused`() =
		refused(InNamedCompanion::class.java, "in the companion object of", "a companion object is no bean")

	@Test
	fun `function of an object is refused`() =
		refused(Single::class.java, "the method is final", "let it be an open class instead of an object")

	@Test
	fun `function or lazy value as a result is refused`() {
		refused(ReturnsFunction::class.java, "the method returns work that is done later (kotlin.jvm.functions.Function0)")
		refused(ReturnsLazy::class.java, "the method returns work that is done later (kotlin.Lazy)")
	}

	@Test
	fun `final overload of a function with defaults is refused`() =
		refused(Overload::class.java, "Overload.pay(String): the method is final", "remove final")

	@Test
	fun `property of a value class in a key is refused`() =
		refused(ValueOfValueClass::class.java, "reads value of java.lang.String, which has no such property",
			"Kotlin passes what a value class wraps: write the parameter alone, such as #id")

	@Test
	fun `misspelt property of a data class in a key is refused`() =
		refused(Misspelt::class.java, "#{#order.idd}\" reads idd of", "which has no such property", "it has id, lines")

	// There is no Redis, which is not asked before the beans are made.
	@Test
	fun `lock that is injected by its name is refused`() {
		for (bean in listOf(ByParameter::class.java, ByField::class.java)) {
			Contexts.withRedis().withPropertyValues("distributed-lock.backend=memory,redis").withBean(bean).run { context ->
				assertThat(context.startupFailure).rootCause().hasMessageContaining("redisLock, which would be the default lock")
			}
		}
	}

	private fun refused(bean: Class<*>, vararg messages: String) {
		Contexts.inMemory().withBean(bean).run { context ->
			for (message in messages) {
				assertThat(context.startupFailure).rootCause().hasMessageContaining(message)
			}
		}
	}

	open class WithResult {

		@DistributedLock
		open suspend fun pay(): Result<String> = Result.success("paid")

	}

	open class Twice {

		@DistributedLock
		open suspend fun pay(): Mono<String> = Mono.just("paid")

	}

	open class NeverNull {

		@DistributedLock(ifBusy = IfBusy.SKIP)
		open suspend fun pay(): String = "paid"

	}

	open class NeverNullBlocking {

		@DistributedLock(ifBusy = IfBusy.SKIP)
		open fun pay(): String = "paid"

	}

	class ByParameter(val redisLock: Locks, val most: Int = 1)

	class ByField {

		@Autowired
		lateinit var redisLock: Locks

	}

	open class NeverNullQueue {

		@DistributedLock(ifBusy = IfBusy.SKIP)
		open fun orders(): BlockingQueue<String> = LinkedBlockingQueue()

	}

	open class Overload {

		@DistributedLock(key = ["order:#{#id}"])
		open fun pay(id: String, count: Int = 1): String = "$count times $id"

		@DistributedLock(key = ["order:#{#id}"])
		fun pay(id: String): String = pay(id, 2)

	}

	open class Property {

		@get:DistributedLock(ifBusy = IfBusy.SKIP)
		open val rate: String
			get() = "high"

	}

	open class Later {

		@DistributedLock
		open suspend fun pay(): Deferred<String> = CompletableDeferred("paid")

	}

	open class BlockingFallback {

		@DistributedLock(key = ["order:#{#id}"], fallback = "busy")
		open suspend fun pay(id: String): String = "paid $id"

		open fun busy(id: String): String = "busy $id"

	}

	open class SuspendingFallback {

		@DistributedLock(key = ["order:#{#id}"], fallback = "busy")
		open fun pay(id: String): String = "paid $id"

		open suspend fun busy(id: String): String = "busy $id"

	}

	open class FallbackOfAnotherType {

		@DistributedLock(key = ["order:#{#id}"], fallback = "busy")
		open suspend fun pay(id: String): String = "paid $id"

		open suspend fun busy(id: String): Int = id.length

	}

	open class InCompanion {

		companion object {

			@DistributedLock
			fun pay(): String = "paid"

		}

	}

	open class InNamedCompanion {

		companion object Till {

			@DistributedLock
			fun pay(): String = "paid"

		}

	}

	object Single {

		@DistributedLock
		fun pay(): String = "paid"

	}

	open class ReturnsFunction {

		@DistributedLock
		open fun pay(): () -> String = { "paid" }

	}

	open class ReturnsLazy {

		@DistributedLock
		open fun pay(): Lazy<String> = lazy { "paid" }

	}

	@JvmInline
	value class OrderId(val value: String)

	open class ValueOfValueClass {

		@DistributedLock(key = ["order:#{#id.value}"])
		open fun pay(id: OrderId): String = "paid $id"

	}

	data class Order(val id: String, val lines: Int)

	open class Misspelt {

		@DistributedLock(key = ["order:#{#order.idd}"])
		open fun pay(order: Order): String = "paid $order"

	}

}

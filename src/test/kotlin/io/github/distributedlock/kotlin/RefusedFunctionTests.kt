package io.github.distributedlock.kotlin

import io.github.distributedlock.annotation.DistributedLock
import io.github.distributedlock.annotation.IfBusy
import io.github.distributedlock.autoconfigure.Contexts
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Deferred
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import reactor.core.publisher.Mono

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
		"the method is a suspend function that returns reactor.core.publisher.Mono, of which any proxy passes on what is inside",
		"return the value, or a Flow")

	@Test
	fun `skipped call of a function that is never null is refused`() {
		refused(NeverNull::class.java, "NeverNull.pay(Continuation): ifBusy = SKIP has no result to return",
			"let it be a function that returns String? (null then says skipped)")
		refused(NeverNullBlocking::class.java, "NeverNullBlocking.pay(): ifBusy = SKIP has no result to return",
			"let it be a function that returns String? (null then says skipped)")
	}

	@Test
	fun `skipped getter of a property that is never null is refused`() =
		refused(Property::class.java, "Property.getRate(): ifBusy = SKIP has no result to return",
			"whose result is never null", "let it be a function")

	@Test
	fun `future inside of a suspend function is refused`() =
		refused(Later::class.java, "Later.pay(Continuation): the method returns a Kotlin job", "return CompletableFuture")

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

	open class Property {

		@get:DistributedLock(ifBusy = IfBusy.SKIP)
		open val rate: String
			get() = "high"

	}

	open class Later {

		@DistributedLock
		open suspend fun pay(): Deferred<String> = CompletableDeferred("paid")

	}

}

package io.github.distributedlock.kotlin

import io.github.distributedlock.DistributedLock as Locks
import io.github.distributedlock.LockHandle
import io.github.distributedlock.LockNotAcquiredException
import io.github.distributedlock.LockRequest
import io.github.distributedlock.annotation.DistributedLock
import io.github.distributedlock.autoconfigure.Contexts
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test

/**
 * The overloads that Kotlin makes for Java of a function with defaults. They are final, and call that function on the proxy.
 */
class OverloadTests {

	@Test
	fun `overload that Kotlin has made locks as its function does`() = with { orders, _ ->
		assertThat(orders.pay("a")).isEqualTo(listOf("order:a"))
		assertThat(Orders::class.java.getMethod("pay", String::class.java).invoke(orders, "a")).isEqualTo(listOf("order:a"))
	}

	@Test
	fun `so does that of a function that the annotation of its class covers`() {
		Contexts.inMemory().withBean(Covered::class.java).run { context ->
			assertThat(context).hasNotFailed()
			assertThat(Covered::class.java.getMethod("pay").invoke(context.getBean(Covered::class.java))).isEqualTo(listOf("covered"))
		}
	}

	@Test
	fun `fallback may have a default`() = with { orders, locks ->
		locks.acquire(LockRequest.of("busy").detached(true))
		assertThat(orders.busy("a")).isEqualTo("instead of a: true")
	}

	private fun with(test: (Orders, Locks) -> Unit) {
		Contexts.inMemory().withBean(Orders::class.java).run { context ->
			assertThat(context).hasNotFailed()
			test(context.getBean(Orders::class.java), context.getBean(Locks::class.java))
		}
	}

	open class Orders {

		@JvmOverloads
		@DistributedLock(key = ["order:#{#id}"])
		open fun pay(id: String, count: Int = 1): List<String> = List(count) { LockHandle.current().orElseThrow().keys().single() }

		@DistributedLock(key = ["'busy'"], waitTime = "0", fallback = "instead")
		open fun busy(id: String): String = "locked"

		@JvmOverloads
		open fun instead(id: String, why: LockNotAcquiredException? = null): String = "instead of $id: ${why != null}"

	}

	@DistributedLock(key = ["'covered'"])
	open class Covered {

		@JvmOverloads
		open fun pay(count: Int = 1): List<String> = List(count) { LockHandle.current().orElseThrow().keys().single() }

	}

}

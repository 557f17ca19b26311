package io.github.distributedlock.kotlin

import io.github.distributedlock.DistributedLock as Locks
import io.github.distributedlock.LockHandle
import io.github.distributedlock.LockRequest
import io.github.distributedlock.annotation.DistributedLock
import io.github.distributedlock.autoconfigure.Contexts
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test

/**
 * Kotlin's value classes in keys and fallbacks: Kotlin passes what such a class wraps where it can, and an object elsewhere.
 */
class ValueClassTests {

	@Test
	fun `value class is a key, also if it is nullable or listed`() = with { orders, _ ->
		assertThat(orders.plain(OrderId("a"))).isEqualTo(listOf("a"))
		assertThat(orders.nullable(OrderId("a"))).isEqualTo(listOf("a"))
		assertThat(orders.listed(listOf(OrderId("a"), OrderId("b")))).isEqualTo(listOf("a", "b"))
		assertThat(orders.numbered(OrderNumber(7))).isEqualTo(listOf("7"))
	}

	@Test
	fun `fallback takes a value class`() = with { orders, locks ->
		locks.acquire(LockRequest.of("order:a").detached(true))
		assertThat(orders.busy(OrderId("a"))).isEqualTo("instead of a")
		assertThat(orders.busyNullable(OrderId("a"))).isEqualTo("instead of a")
	}

	// Kotlin changes its name, too.
	@Test
	fun `fallback may be internal`() = with { orders, locks ->
		locks.acquire(LockRequest.of("internal").detached(true))
		assertThat(orders.busyInternal()).isEqualTo("instead")
	}

	@Test
	fun `internal function without a key has no module in its name`() = with { orders, _ ->
		assertThat(orders.named()).isEqualTo(listOf(Orders::class.java.name + ".named"))
	}

	private fun with(test: (Orders, Locks) -> Unit) {
		Contexts.inMemory().withBean(Orders::class.java).run { context ->
			assertThat(context).hasNotFailed()
			test(context.getBean(Orders::class.java), context.getBean(Locks::class.java))
		}
	}

	@JvmInline
	value class OrderId(val value: String)

	@JvmInline
	value class OrderNumber(val value: Long)

	open class Orders {

		@DistributedLock(key = ["#id"])
		open fun plain(id: OrderId): List<String> = held()

		@DistributedLock(key = ["#id"])
		open fun nullable(id: OrderId?): List<String> = held()

		@DistributedLock(key = ["#ids"])
		open fun listed(ids: List<OrderId>): List<String> = held()

		@DistributedLock(key = ["#number"])
		open fun numbered(number: OrderNumber?): List<String> = held()

		@DistributedLock(key = ["order:#{#id}"], waitTime = "0", fallback = "instead")
		open fun busy(id: OrderId): String = "locked"

		open fun instead(id: OrderId): String = "instead of ${id.value}"

		@DistributedLock(key = ["order:#{#id}"], waitTime = "0", fallback = "insteadOfNullable")
		open fun busyNullable(id: OrderId?): String = "locked"

		open fun insteadOfNullable(id: OrderId?): String = "instead of ${id?.value}"

		@DistributedLock(key = ["'internal'"], waitTime = "0", fallback = "insteadInternal")
		open fun busyInternal(): String = "locked"

		internal open fun insteadInternal(): String = "instead"

		@DistributedLock
		internal open fun named(): List<String> = held()

		private fun held(): List<String> = LockHandle.current().orElseThrow().keys()

	}

}

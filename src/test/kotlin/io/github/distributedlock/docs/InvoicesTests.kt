package io.github.distributedlock.docs

import io.github.distributedlock.DistributedLock
import io.github.distributedlock.LockNotAcquiredException
import io.github.distributedlock.fixtures.Patience
import io.github.distributedlock.fixtures.TestRedis
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.future.await
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.extension.RegisterExtension

/**
 * An invoice is charged once, by two applications.
 */
class InvoicesTests {

	companion object {

		@JvmField
		@RegisterExtension
		val redis = TestRedis()

	}

	@Test
	fun `charged once`() {
		DocsApplication.start(redis.server()).use { one ->
			DocsApplication.start(redis.server()).use { two ->
				val invoices = listOf(one, two).map { it.getBean(Invoices::class.java) }
				runBlocking {
					withTimeout(Patience.PATIENCE.toMillis()) {
						// The first calls load classes, which takes long on a busy machine.
						invoices.forEach { assertThat(it.pay("1")).isEqualTo("paid 1") }
						val paid = (0 until 20).map { async(Dispatchers.IO) { patiently { invoices[it % 2].pay("7") } } }.awaitAll()
						assertThat(paid).hasSize(20).containsOnly("paid 7")
						assertThat(invoices[0].refund("7")).isEqualTo("refunded 7")
						val lock = one.getBean(DistributedLock::class.java)
						val handle = lock.acquireAsync("invoices").await()
						assertThat(handle.isHeld).isTrue()
						handle.closeAsync().await()
					}
				}
				assertThat(redis.admin().lrange("charged", 0, -1)).containsExactly("1", "7")
			}
		}
	}

	/**
	 * Tries again if the machine has stood still for the wait time.
	 */
	private suspend fun patiently(pay: suspend () -> String): String {
		while (true) {
			try {
				return pay()
			}
			catch (ex: LockNotAcquiredException) {
				continue
			}
		}
	}

}

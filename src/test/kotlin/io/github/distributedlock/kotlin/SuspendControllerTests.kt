package io.github.distributedlock.kotlin

import io.github.distributedlock.annotation.DistributedLock
import io.github.distributedlock.fixtures.NoDatabase
import io.github.distributedlock.fixtures.TestRedis
import io.github.distributedlock.reactive.WebFluxTests
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.delay
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.extension.RegisterExtension
import org.springframework.boot.autoconfigure.EnableAutoConfiguration
import org.springframework.context.annotation.Configuration
import org.springframework.context.annotation.Import
import org.springframework.data.redis.core.StringRedisTemplate
import org.springframework.web.bind.annotation.PathVariable
import org.springframework.web.bind.annotation.PostMapping
import org.springframework.web.bind.annotation.RestController

/**
 * Two JVMs with a Kotlin application, whose suspend controller takes the lock, sell what
 * is in one real Redis.
 */
@Tag("thorough")
class SuspendControllerTests {

	companion object {

		@JvmField
		@RegisterExtension
		val redis = TestRedis()

	}

	@Test
	fun `no unit is sold twice`() {
		WebFluxTests.sell(redis, KotlinShop::class.java)
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(NoDatabase::class, KotlinController::class)
	open class KotlinShop {

		companion object {

			@JvmStatic
			fun main(arguments: Array<String>) {
				WebFluxTests.serve(KotlinShop::class.java, arguments[0])
			}

		}

	}

	@RestController
	open class KotlinController(private val redis: StringRedisTemplate) {

		@PostMapping("/buy/{sku}")
		@DistributedLock(key = ["stock:#{#sku}"], waitTime = "60s")
		open suspend fun buy(@PathVariable("sku") sku: String): String {
			val left = withContext(Dispatchers.IO) { redis.opsForValue().get("left:$sku")!!.toInt() }
			delay(1)
			withContext(Dispatchers.IO) { redis.opsForValue().set("left:$sku", (left - 1).toString()) }
			return left.toString()
		}

	}

}

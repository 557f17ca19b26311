package io.github.distributedlock.kotlin

import io.github.distributedlock.annotation.DistributedLock
import io.github.distributedlock.fixtures.JvmProcess
import io.github.distributedlock.fixtures.NoDatabase
import io.github.distributedlock.fixtures.Patience
import io.github.distributedlock.fixtures.TestRedis
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.delay
import kotlinx.coroutines.withContext
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.extension.RegisterExtension
import org.springframework.boot.WebApplicationType
import org.springframework.boot.autoconfigure.EnableAutoConfiguration
import org.springframework.boot.builder.SpringApplicationBuilder
import org.springframework.context.annotation.Configuration
import org.springframework.context.annotation.Import
import org.springframework.data.redis.core.StringRedisTemplate
import org.springframework.web.bind.annotation.PathVariable
import org.springframework.web.bind.annotation.PostMapping
import org.springframework.web.bind.annotation.RestController
import org.springframework.web.reactive.function.client.WebClient
import reactor.core.publisher.Flux
import reactor.test.StepVerifier

private const val REQUESTS = 60

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
		redis.admin().set("left:a", "100")
		JvmProcess.start(KotlinShop::class.java, redis.port().toString()).use { one ->
			JvmProcess.start(KotlinShop::class.java, redis.port().toString()).use { two ->
				val shops = listOf(client(one), client(two))
				StepVerifier.create(Flux.range(0, REQUESTS)
					.flatMap({ shops[it % 2].post().uri("/buy/a").retrieve().bodyToMono(String::class.java) }, REQUESTS)
					.distinct())
					.expectNextCount(REQUESTS.toLong())
					.expectComplete()
					.verify(Patience.PATIENCE)
				assertThat(redis.admin().get("left:a")).isEqualTo("40")
			}
		}
	}

	private fun client(shop: JvmProcess) = WebClient.create("http://localhost:" + shop.awaitLineAfter("port: "))

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(NoDatabase::class, KotlinController::class)
	open class KotlinShop {

		companion object {

			@JvmStatic
			fun main(arguments: Array<String>) {
				val shop = SpringApplicationBuilder(KotlinShop::class.java).web(WebApplicationType.REACTIVE)
					.properties("server.port=0", "spring.data.redis.port=" + arguments[0], "spring.main.banner-mode=off")
					.run()
				println("port: " + shop.environment.getRequiredProperty("local.server.port"))
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

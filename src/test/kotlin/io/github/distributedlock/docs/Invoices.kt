package io.github.distributedlock.docs

import io.github.distributedlock.OnLost
import io.github.distributedlock.annotation.DistributedLock
import io.github.distributedlock.reactive.LockContext
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.reactor.ReactorContext
import kotlinx.coroutines.withContext
import org.springframework.data.redis.core.StringRedisTemplate
import org.springframework.stereotype.Service

@Service
open class Invoices(private val redis: StringRedisTemplate) {

	// tag::suspend[]
	@DistributedLock(key = ["invoice:#{#id}"], waitTime = "2s")
	open suspend fun pay(id: String): String = find(id) ?: charge(id)
	// end::suspend[]

	// tag::suspend-page[]
	@DistributedLock(key = ["invoice:#{#id}"], onLost = OnLost.INTERRUPT)
	open suspend fun refund(id: String): String {
		val context = currentCoroutineContext()[ReactorContext]!!.context
		LockContext.current(context).orElseThrow().checkHeld() // before a step that cannot be undone
		return transfer(id)
	}
	// end::suspend-page[]

	private suspend fun find(id: String) = withContext(Dispatchers.IO) { redis.opsForValue().get("paid:$id") }

	private suspend fun charge(id: String) = withContext(Dispatchers.IO) {
		redis.opsForList().rightPush("charged", id)
		redis.opsForValue().set("paid:$id", "paid $id")
		"paid $id"
	}

	private suspend fun transfer(id: String) = withContext(Dispatchers.IO) { "refunded $id" }

}

package io.github.distributedlock.backend.redis.internal;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.RedisServers.Server;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.api.RedissonClient;
import org.redisson.spring.data.connection.RedissonConnectionFactory;
import redis.clients.jedis.Jedis;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.scope.ScopedProxyFactoryBean;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Locks go where the application's connections lead, also through proxies.
 */
class OwnConnectionsTests {

	private static final String TARGET = "target";

	private final Server server = RedisServers.shared(RedisServers.EMBEDDED);

	static Stream<Arguments> proxies() {
		UnaryOperator<RedisConnectionFactory> byClass = OwnConnectionsTests::byClass;
		UnaryOperator<RedisConnectionFactory> byInterface = OwnConnectionsTests::byInterface;
		UnaryOperator<RedisConnectionFactory> nested = (factory) -> byInterface(byClass(byClass(factory)));
		return Stream.of(Named.of("class", byClass), Named.of("interface", byInterface), Named.of("nested", nested))
			.map(Arguments::of);
	}

	@ParameterizedTest
	@MethodSource("proxies")
	void aProxyOfLettuceLeadsToItsServer(UnaryOperator<RedisConnectionFactory> proxy) {
		assertLocksGoThere(proxy.apply(new LettuceConnectionFactory(standalone())));
	}

	@ParameterizedTest
	@MethodSource("proxies")
	void aProxyOfJedisLeadsToItsServer(UnaryOperator<RedisConnectionFactory> proxy) {
		JedisConnectionFactory application = new JedisConnectionFactory(standalone());
		assertLocksGoThere(proxy.apply(application));
	}

	@Test
	void whatMayLeadElsewhereThanItsSettingsSayIsRefused() {
		assertRefused(scoped(new LettuceConnectionFactory(standalone()), RootBeanDefinition.SCOPE_PROTOTYPE));
		assertRefused(new LettuceConnectionFactory(standalone()) {
		});
		assertRefused(new JedisConnectionFactory(standalone()) {
		});
	}

	@Test
	void aListOfServersIsRefusedWithWhatToWrite() {
		RedisConfiguration list = new RedisStaticMasterReplicaConfiguration("localhost", this.server.port());
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> derive(new LettuceConnectionFactory(list)))
			.withMessageContainingAll("spring.data.redis.host", "spring.data.redis.sentinel.nodes",
					"distributed-lock.redis.connection-factory");
	}

	@Test
	void anAddressOfTheApplicationsOwnKindLeadsToItsServer() {
		assertLocksGoThere(new LettuceConnectionFactory(own(RedisConfiguration.WithHostAndPort.class)));
	}

	@Test
	void aConfigurationWithoutAnAddressIsRefusedWithWhatToWrite() {
		RedisConfiguration silent = own(RedisConfiguration.WithPassword.class);
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> derive(new LettuceConnectionFactory(silent)))
			.withMessageContainingAll(silent.getClass().getName() + " does not tell them where the master is",
					"spring.data.redis.host", "distributed-lock.redis.connection-factory");
	}

	private RedisConfiguration own(Class<?> kind) {
		RedisStandaloneConfiguration server = standalone();
		return (RedisConfiguration) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { RedisConfiguration.class, kind },
				(proxy, method, arguments) -> method.invoke(server, arguments));
	}

	@Test
	void aFactoryOfAnotherLibraryIsRefusedWithWhatToWrite() {
		RedissonClient client = (RedissonClient) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { RedissonClient.class }, (proxy, method, arguments) -> null);
		assertRefused(new RedissonConnectionFactory(client));
	}

	private static void assertRefused(RedisConnectionFactory factory) {
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> derive(factory))
			.withMessageContainingAll(factory.getClass().getName(), "spring.data.redis.url",
					"distributed-lock.redis.connection-factory");
	}

	private void assertLocksGoThere(RedisConnectionFactory application) {
		Claim claim = Claim.of(UUID.randomUUID().toString(), "a:1", "a", Duration.ofSeconds(30));
		try (RedisLockBackend backend = new RedisLockBackend(application,
				RedisLockSettings.defaults().commandTimeout(Duration.ofSeconds(20)));
				Jedis admin = this.server.admin()) {
			assertThat(backend.acquire(claim).acquired()).isTrue();
			assertThat(admin.get("lock:{" + claim.key() + "}")).isEqualTo(claim.owner());
			assertThat(backend.release(claim.key(), claim.owner())).isTrue();
		}
	}

	private static OwnConnections derive(RedisConnectionFactory application) {
		return RedisClients.derive(application, Duration.ofSeconds(20));
	}

	private RedisStandaloneConfiguration standalone() {
		return new RedisStandaloneConfiguration("localhost", this.server.port());
	}

	private static RedisConnectionFactory byClass(RedisConnectionFactory target) {
		ProxyFactory proxy = new ProxyFactory(target);
		proxy.setProxyTargetClass(true);
		return (RedisConnectionFactory) proxy.getProxy();
	}

	private static RedisConnectionFactory byInterface(RedisConnectionFactory target) {
		return ProxyFactory.getProxy(RedisConnectionFactory.class, new ProxyFactory(target).getTargetSource());
	}

	private static RedisConnectionFactory scoped(RedisConnectionFactory target, String scope) {
		DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
		RootBeanDefinition definition = new RootBeanDefinition(RedisConnectionFactory.class, () -> target);
		definition.setTargetType(target.getClass());
		definition.setScope(scope);
		beans.registerBeanDefinition(TARGET, definition);
		ScopedProxyFactoryBean proxy = new ScopedProxyFactoryBean();
		proxy.setTargetBeanName(TARGET);
		proxy.setBeanFactory(beans);
		return (RedisConnectionFactory) proxy.getObject();
	}

}

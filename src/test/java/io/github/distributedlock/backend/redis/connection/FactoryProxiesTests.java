package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.RedisServers.Server;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.codec.RedisCodec;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.scope.ScopedProxyFactoryBean;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionProvider;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Locks go where the application's connections lead, also through proxies.
 */
class FactoryProxiesTests {

	private static final String TARGET = "target";

	private final Server server = RedisServers.shared(RedisServers.EMBEDDED);

	static Stream<Arguments> proxies() {
		UnaryOperator<RedisConnectionFactory> byClass = FactoryProxiesTests::byClass;
		UnaryOperator<RedisConnectionFactory> byInterface = FactoryProxiesTests::byInterface;
		UnaryOperator<RedisConnectionFactory> nested = (factory) -> byInterface(byClass(byClass(factory)));
		UnaryOperator<RedisConnectionFactory> scoped = (factory) -> scoped(factory, RootBeanDefinition.SCOPE_SINGLETON);
		return Stream
			.of(Named.of("class", byClass), Named.of("interface", byInterface), Named.of("nested", nested),
					Named.of("scoped", scoped))
			.map(Arguments::of);
	}

	@ParameterizedTest
	@MethodSource("proxies")
	void aProxyOfAListOfServersLeadsToThem(UnaryOperator<RedisConnectionFactory> proxy) {
		RedisConfiguration list = new RedisStaticMasterReplicaConfiguration("localhost", this.server.port());
		OwnConnections connections = derive(proxy.apply(new LettuceConnectionFactory(list)));
		assertThat(connections.exclusive()).as("connections of their own").isNotNull();
		connections.close();
		assertLocksGoThere(proxy.apply(new LettuceConnectionFactory(list)));
	}

	@ParameterizedTest
	@MethodSource("proxies")
	void aProxyOfJedisLeadsToItsServer(UnaryOperator<RedisConnectionFactory> proxy) {
		JedisConnectionFactory application = new JedisConnectionFactory(standalone());
		OwnConnections connections = derive(proxy.apply(application));
		assertThat(connections.exclusive()).as("connections of their own").isNotNull();
		connections.close();
		assertLocksGoThere(proxy.apply(application));
	}

	@Test
	void aProxyWhoseTargetMayChangeIsUsedAsItIs() {
		LettuceConnectionFactory application = started(new LettuceConnectionFactory(standalone()));
		RedisConnectionFactory proxy = scoped(application, RootBeanDefinition.SCOPE_PROTOTYPE);
		assertThat(derive(proxy).exclusive()).isNull();
		assertLocksGoThere(proxy);
		application.destroy();
	}

	@Test
	void aSubclassThatGivesOutOtherConnectionsIsUsedAsItIs() {
		LettuceConnectionFactory delegate = started(new LettuceConnectionFactory(standalone()));
		RedisConnectionFactory application = new LettuceConnectionFactory() {

			@Override
			public RedisConnection getConnection() {
				return delegate.getConnection();
			}

		};
		assertThat(derive(application).exclusive()).isNull();
		assertLocksGoThere(application);
		delegate.destroy();
	}

	@Test
	void aSubclassThatOpensItsConnectionsItselfIsUsedAsItIs() {
		assertThat(derive(new LettuceConnectionFactory(standalone()) {

			@Override
			protected LettuceConnectionProvider doCreateConnectionProvider(AbstractRedisClient client,
					RedisCodec<?, ?> codec) {
				return super.doCreateConnectionProvider(client, codec);
			}

		}).exclusive()).isNull();
		assertThat(derive(new JedisConnectionFactory(standalone()) {

			@Override
			@SuppressWarnings("deprecation") // Jedis still calls it.
			protected Jedis fetchJedisConnector() {
				return super.fetchJedisConnector();
			}

		}).exclusive()).isNull();
	}

	@Test
	void aSubclassThatChangesNothingOfThatHasConnectionsOfItsOwn() {
		for (RedisConnectionFactory application : new RedisConnectionFactory[] {
				new LettuceConnectionFactory(standalone()) {
				}, new JedisConnectionFactory(standalone()) {
				} }) {
			OwnConnections connections = derive(application);
			assertThat(connections.exclusive()).isNotNull();
			connections.close();
		}
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
		return OwnConnections.derive(application, Duration.ofSeconds(20));
	}

	private RedisStandaloneConfiguration standalone() {
		return new RedisStandaloneConfiguration("localhost", this.server.port());
	}

	private static LettuceConnectionFactory started(LettuceConnectionFactory factory) {
		factory.afterPropertiesSet();
		factory.start();
		return factory;
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

package io.github.distributedlock.integration;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.integration.aggregator.AggregatingMessageHandler;
import org.springframework.integration.aggregator.DefaultAggregatingMessageGroupProcessor;
import org.springframework.integration.aggregator.MessageCountReleaseStrategy;
import org.springframework.integration.channel.QueueChannel;
import org.springframework.integration.config.EnableIntegration;
import org.springframework.integration.redis.store.RedisMessageStore;
import org.springframework.integration.support.MessageBuilder;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.messaging.Message;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Spring Integration's aggregator in two applications whose groups are in one store, each
 * with locks of its own instance. Without the locks, messages that come to both at once
 * overwrite each other in their group.
 */
class AggregatorTests {

	private static final int GROUPS = 50;

	private static final int SIZE = 4;

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	@ParameterizedTest
	@MethodSource("io.github.distributedlock.integration.Registry#all")
	void groupsAreCompletedOnce(Registry registry) {
		try (AnnotationConfigApplicationContext one = application(registry);
				AnnotationConfigApplicationContext other = application(registry)) {
			List<CompletableFuture<Void>> senders = IntStream.range(0, SIZE)
				.mapToObj((sender) -> CompletableFuture.runAsync(() -> send(sender, (sender % 2 == 0) ? one : other),
						this.threads))
				.toList();
			senders.forEach((sender) -> Patience.get(sender, "a sender"));
			List<Collection<?>> groups = new ArrayList<>(received(one));
			groups.addAll(received(other));
			assertThat(groups).hasSize(GROUPS)
				.allSatisfy((group) -> assertThat(group.stream().map(Object::toString)).containsExactlyInAnyOrder("0",
						"1", "2", "3"));
		}
	}

	private static void send(int sender, AnnotationConfigApplicationContext application) {
		AggregatingMessageHandler aggregator = application.getBean(AggregatingMessageHandler.class);
		for (int group = 0; group < GROUPS; group++) {
			aggregator.handleMessage(MessageBuilder.withPayload(sender).setCorrelationId("group-" + group).build());
		}
	}

	private static List<Collection<?>> received(AnnotationConfigApplicationContext application) {
		List<Collection<?>> received = new ArrayList<>();
		QueueChannel channel = application.getBean(QueueChannel.class);
		for (Message<?> message = channel.receive(0); message != null; message = channel.receive(0)) {
			received.add((Collection<?>) message.getPayload());
		}
		return received;
	}

	private static AnnotationConfigApplicationContext application(Registry registry) {
		AnnotationConfigApplicationContext application = new AnnotationConfigApplicationContext();
		application.registerBean(RedisConnectionFactory.class, () -> Client.JEDIS.connectTo(redis.port()));
		application.registerBean(LockRegistry.class, () -> registry.of(redis.engine(Client.JEDIS)));
		application.register(Flow.class);
		application.refresh();
		return application;
	}

	@Configuration(proxyBeanMethods = false)
	@EnableIntegration
	static class Flow {

		@Bean
		QueueChannel groups() {
			return new QueueChannel();
		}

		@Bean
		@SuppressWarnings("rawtypes")
		AggregatingMessageHandler aggregator(RedisConnectionFactory connections, LockRegistry registry,
				QueueChannel groups) {
			AggregatingMessageHandler aggregator = new AggregatingMessageHandler(
					new DefaultAggregatingMessageGroupProcessor(), new RedisMessageStore(connections));
			aggregator.setReleaseStrategy(new MessageCountReleaseStrategy(SIZE));
			aggregator.setExpireGroupsUponCompletion(true);
			aggregator.setLockRegistry(registry);
			aggregator.setOutputChannel(groups);
			return aggregator;
		}

	}

}

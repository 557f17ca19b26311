package io.github.distributedlock.autoconfigure;

import java.util.List;

import io.github.distributedlock.annotation.DistributedLock;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;
import org.springframework.test.util.AopTestUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.doReturn;
import static org.mockito.Mockito.verify;

/**
 * Mocks and spies of a service with annotated methods.
 */
class MockedBeanTests {

	@Nested
	@SpringJUnitConfig(Application.class)
	@TestPropertySource(properties = "distributed-lock.backend=memory")
	class Mocked {

		@MockitoBean
		private Greeter greeter;

		@Autowired
		private Caller caller;

		@Test
		void mockIsUsedAsItIs() {
			given(this.greeter.heldKeys()).willReturn(List.of("mocked"));
			assertThat(this.caller.call()).containsExactly("mocked");
		}

	}

	@Nested
	@SpringJUnitConfig(Application.class)
	@TestPropertySource(properties = "distributed-lock.backend=memory")
	class Spied {

		@MockitoSpyBean
		private Greeter greeter;

		@Autowired
		private Caller caller;

		@Test
		void spyHasItsLock() {
			assertThat(this.caller.call()).containsExactly("greeting");
			verify(this.greeter).heldKeys();
		}

	}

	@Nested
	@SpringJUnitConfig(Application.class)
	@TestPropertySource(properties = "distributed-lock.backend=memory")
	class Stubbed {

		@MockitoSpyBean
		private Payer payer;

		@Test
		void spyIsStubbedBehindItsProxy() {
			Payer unlocked = AopTestUtils.getTargetObject(this.payer);
			doReturn("stubbed").when(unlocked).pay(any());
			assertThat(this.payer.pay("7")).isEqualTo("stubbed");
			verify(this.payer).pay("7");
		}

		@Test
		void aMatcherOnTheProxyIsTheKeyOfACall() {
			assertThatThrownBy(() -> given(this.payer.pay(any())).willReturn("stubbed"))
				.hasMessageContaining("key = \"#id\"");
			assertThatThrownBy(Mockito::validateMockitoUsage).hasMessageContaining("Misplaced");
		}

	}

	static class Payer {

		@DistributedLock(key = "#id")
		public String pay(String id) {
			return "paid " + id;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
	@Import({ Greeter.class, Caller.class, Payer.class })
	static class Application {

	}

	record Caller(Greeter greeter) {

		List<String> call() {
			return this.greeter.heldKeys();
		}

	}

}

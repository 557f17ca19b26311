package io.github.distributedlock.aop;

import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.fixtures.JvmProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.stereotype.Component;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Keys that an expression puts together with {@code +}: each operand is a part of the key
 * as those of a template are.
 */
class JoinedKeyTests {

	private AdvisorContext context;

	private Keys keys;

	@BeforeEach
	void start() {
		this.context = AdvisorContext.of(Keys.class, Names.class);
		this.keys = this.context.get(Keys.class);
	}

	@AfterEach
	void stop() {
		this.context.close();
	}

	@Test
	void plainOperandsAreJoined() {
		this.keys.joined(7);
		assertThat(locked()).containsExactly("order:7");
		this.keys.inTemplate("a");
		assertThat(locked()).containsExactly("shop/xa!");
		this.keys.joined(TimeUnit.DAYS);
		assertThat(locked()).containsExactly("order:DAYS");
	}

	@Test
	void nullIsRefused() {
		assertFailsUnlocked(() -> this.keys.joined(null), "key = \"'order:' + #id\", of which #id is null");
		assertFailsUnlocked(() -> this.keys.inTemplate(null), "of which #id is null");
		assertFailsUnlocked(() -> this.keys.first(null), "of which #id is null");
	}

	@Test
	void blankIsRefused() {
		assertFailsUnlocked(() -> this.keys.joined(" "), "of which #id is blank");
		assertFailsUnlocked(() -> this.keys.inTemplate(""), "of which #id is blank");
	}

	static Stream<Object> noParts() {
		return Stream.of(new Entity(), new Date(0), Optional.of("a"), Map.of("a", 1), new byte[] { 1 });
	}

	@ParameterizedTest
	@MethodSource("noParts")
	void valueThatNeedNotReadTheSameInEveryJvmIsRefused(Object value) {
		String why = "of which #id is a " + value.getClass().getTypeName()
				+ ", whose text need not be the same in every JVM";
		assertFailsUnlocked(() -> this.keys.joined(value), why);
		assertFailsUnlocked(() -> this.keys.inTemplate(value), why);
		assertFailsUnlocked(() -> this.keys.first(value), why);
	}

	@Test
	void collectionGivesOneKeyForEachElementAsInATemplate() {
		this.keys.joined(List.of("a", "b"));
		assertThat(locked()).containsExactly("order:a", "order:b");
		assertFailsUnlocked(() -> this.keys.joined(List.of()), "of which #id is empty");
		assertFailsUnlocked(() -> this.keys.joined(List.of(List.of("a"))), "of which #id is a ");
	}

	@ParameterizedTest
	@CsvSource(nullValues = "-", value = { "a, order:a!", "-, order:none!", "'', order:none!" })
	void elvisGivesAMissingOperandItsDefault(String id, String key) {
		this.keys.elvisOperand(id);
		assertThat(locked()).containsExactly(key);
	}

	@Test
	void operandsThatAreExpressionsAreChecked() {
		assertFailsUnlocked(() -> this.keys.elvisOperand(" "), "of which (#id ?: 'none') is blank");
		assertFailsUnlocked(() -> this.keys.elvisOperand(new Entity()), "is a " + Entity.class.getName());
		assertFailsUnlocked(() -> this.keys.ternaryOperand(new Date(0)), "is a java.util.Date");
		assertFailsUnlocked(() -> this.keys.ternaryOperand(null), "is blank");
	}

	/**
	 * Where SpEL itself would make text of what is null.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "#id != null ? ('a:' + #id) : 'none'", "#id ?: 'a:' + #id", "{'a:' + #id + ':b'}",
			"#id.![#this + #id]", "@names.of('a' + #id + 1)", "#id + #other", "(#id + #other) + 'a'" })
	void joinThatCannotBeCheckedIsRefused(String key) throws Exception {
		AnnotatedMethod annotated = new AnnotatedMethod(
				JoinedKeyTests.class.getDeclaredMethod("joining", Object.class, Object.class), JoinedKeyTests.class,
				JoinedKeyTests.class,
				AnnotationUtils.synthesizeAnnotation(Map.of("key", new String[] { key }), DistributedLock.class, null));
		assertThatExceptionOfType(LockDefinitionException.class)
			.isThrownBy(() -> new KeyExpressions(annotated, new StandardEnvironment(), new StandardEvaluationContext()))
			.withMessageContaining("key = \"" + key + "\" adds (")
			.withMessageContaining("which makes text of null")
			.withMessageContaining("write a template, \"#{#a}#{#b}\", or #a.concat(#b)");
	}

	void joining(Object id, Object other) {
	}

	@Test
	void numbersAreAdded() {
		this.keys.sum(2, 3L);
		assertThat(locked()).containsExactly("3", "n6", "2n4");
		assertFailsUnlocked(() -> this.keys.sum(null, 3L), "key = \"#first + 1\" could not be evaluated (");
		assertFailsUnlocked(() -> this.keys.sum(" ", 3L), "an operand is text, which a template joins");
	}

	@Test
	void eachOperandIsEvaluatedOnce() {
		Names names = this.context.get(Names.class);
		this.keys.counted();
		assertThat(locked()).containsExactly("next:1:2");
		assertThat(names.calls).isEqualTo(2);
	}

	@Test
	void textIsMadeOfPlainValuesOnlyElsewhereToo() {
		this.keys.deep("a");
		assertThat(locked()).containsExactly("(a)", "name a");
		this.keys.deep(TimeUnit.DAYS);
		assertThat(locked()).containsExactly("(DAYS)", "name DAYS");
		assertFailsUnlocked(() -> this.keys.deep(new Date(0)), "of which '('.concat(#id).concat(')')",
				"is a java.util.Date, whose text need not be the same in every JVM");
		assertFailsUnlocked(() -> this.keys.argument(List.of("a")), "key = \"@names.of(#id)\"",
				"is a java.util.ImmutableCollections$List12, whose text need not be");
	}

	@Test
	void isNotCompiledWhateverTheApplicationSays() {
		try (JvmProcess process = JvmProcess.start(ManyTypes.class,
				Map.of("spring.expression.compiler.mode", "immediate"))) {
			process.awaitLine("locked [1, a, true]");
		}
	}

	private List<String> locked() {
		return this.context.lock().keys();
	}

	private void assertFailsUnlocked(Runnable call, String... messages) {
		int before = this.context.lock().requests.size();
		assertThatIllegalArgumentException().isThrownBy(call::run)
			.satisfies((ex) -> assertThat(ex.getMessage()).startsWith("@DistributedLock on " + Keys.class.getName())
				.contains(messages));
		assertThat(this.context.lock().requests).hasSize(before);
	}

	/**
	 * Calls one method with values of several types, in a JVM of its own.
	 */
	static class ManyTypes {

		public static void main(String[] args) {
			try (AdvisorContext context = AdvisorContext.of(Keys.class, Names.class)) {
				for (Object value : Arrays.asList(1, "a", true)) {
					context.get(Keys.class).method(value);
				}
				System.out.println("locked "
						+ context.lock().requests.stream().flatMap((request) -> request.keys().stream()).toList());
			}
		}

	}

	static class Entity {

	}

	@Component("names")
	static class Names {

		int calls;

		public int next() {
			return ++this.calls;
		}

		public String of(String id) {
			return "name " + id;
		}

	}

	static class Keys {

		@DistributedLock(key = "'order:' + #id")
		public void joined(Object id) {
		}

		@DistributedLock(key = "shop/#{'x' + #id}!")
		public void inTemplate(Object id) {
		}

		@DistributedLock(key = "#id + ':order'")
		public void first(Object id) {
		}

		@DistributedLock(key = "'order:' + (#id != null ? #id : '')")
		public void ternaryOperand(Object id) {
		}

		@DistributedLock(key = "'order:' + (#id ?: 'none') + '!'")
		public void elvisOperand(Object id) {
		}

		@DistributedLock(key = { "#first + 1", "'n' + (#second + 3)", "#first + ('n' + 4)" })
		public void sum(Object first, Long second) {
		}

		@DistributedLock(key = "'next:' + @names.next() + ':' + @names.next()")
		public void counted() {
		}

		@DistributedLock(key = { "#{'('.concat(#id).concat(')')}", "#{@names.of(#id)}" })
		public void deep(Object id) {
		}

		@DistributedLock(key = "@names.of(#id)")
		public void argument(Object id) {
		}

		@DistributedLock(key = "#value.toString()")
		public void method(Object value) {
		}

	}

}

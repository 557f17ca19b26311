package io.github.distributedlock.aop;

import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.fixtures.JvmProcess;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Keys that an expression puts together with {@code +}: each operand is a part of the key
 * as those of a template are.
 */
class JoinedKeyTests {

	private static final String JOINED = "'order:' + #id";

	private static final String IN_TEMPLATE = "shop/#{'x' + #id}!";

	private static final String FIRST = "#id + ':order'";

	private static final String ELVIS = "'order:' + (#id ?: 'none') + '!'";

	private static final String TERNARY = "'order:' + (#id != null ? #id : '')";

	private static final Names NAMES = new Names();

	@Test
	void plainOperandsAreJoined() {
		assertThat(keys(JOINED, 7)).containsExactly("order:7");
		assertThat(keys(IN_TEMPLATE, "a")).containsExactly("shop/xa!");
		assertThat(keys(JOINED, TimeUnit.DAYS)).containsExactly("order:DAYS");
	}

	@Test
	void nullAndBlankAreRefused() {
		assertRefused(JOINED, null, "key = \"'order:' + #id\", of which #id is null");
		assertRefused(IN_TEMPLATE, null, "of which #id is null");
		assertRefused(FIRST, null, "of which #id is null");
		assertRefused(JOINED, " ", "of which #id is blank");
		assertRefused(IN_TEMPLATE, "", "of which #id is blank");
	}

	static Stream<Object> noParts() {
		return Stream.of(new Names(), new Date(0), Optional.of("a"), Map.of("a", 1), new byte[] { 1 });
	}

	@ParameterizedTest
	@MethodSource("noParts")
	void valueThatNeedNotReadTheSameInEveryJvmIsRefused(Object value) {
		for (String key : List.of(JOINED, IN_TEMPLATE, FIRST)) {
			assertRefused(key, value, "of which #id is a " + value.getClass().getTypeName()
					+ ", whose text need not be the same in every JVM");
		}
	}

	@Test
	void collectionGivesOneKeyForEachElementAsInATemplate() {
		assertThat(keys(JOINED, List.of("a", "b"))).containsExactly("order:a", "order:b");
		assertRefused(JOINED, List.of(), "of which #id is empty");
		assertRefused(JOINED, List.of(List.of("a")), "of which #id is a ");
	}

	@ParameterizedTest
	@CsvSource(nullValues = "-", value = { "a, order:a!", "-, order:none!", "'', order:none!" })
	void elvisGivesAMissingOperandItsDefault(String id, String key) {
		assertThat(keys(ELVIS, id)).containsExactly(key);
	}

	@Test
	void operandsThatAreExpressionsAreChecked() {
		assertRefused(ELVIS, " ", "of which (#id ?: 'none') is blank");
		assertRefused(ELVIS, new Names(), "is a " + Names.class.getName());
		assertRefused(TERNARY, new Date(0), "is a java.util.Date");
		assertRefused(TERNARY, null, "is blank");
	}

	/**
	 * SpEL would make text of null.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "#id != null ? ('a:' + #id) : 'none'", "#id ?: 'a:' + #id", "{'a:' + #id + ':b'}",
			"#id.![#this + #id]", "@names.of('a' + #id + 1)", "#id + #other", "(#id + #other) + 'a'" })
	void joinThatCannotBeCheckedIsRefused(String key) {
		assertThatExceptionOfType(LockDefinitionException.class).isThrownBy(() -> define("pair", key))
			.withMessageContainingAll("key = \"" + key + "\" adds (", "which makes text of null",
					"write a template, \"#{#a}#{#b}\", or #a.concat(#b)");
	}

	@Test
	void numbersAreAdded() {
		assertThat(request("pair", "#id + 1", 2, 3L)).containsExactly("3");
		assertThat(request("pair", "'n' + (#other + 3)", 2, 3L)).containsExactly("n6");
		assertThat(request("pair", "#id + ('n' + 4)", 2, 3L)).containsExactly("2n4");
		assertRefused("#id + 1", null, "key = \"#id + 1\" could not be evaluated (");
		assertRefused("#id + 1", " ", "an operand is text, which a template joins");
	}

	@Test
	void eachOperandIsEvaluatedOnce() {
		NAMES.calls = 0;
		assertThat(keys("'next:' + @names.next() + ':' + @names.next()", "a")).containsExactly("next:1:2");
		assertThat(NAMES.calls).isEqualTo(2);
	}

	@Test
	void textIsMadeOfPlainValuesOnlyElsewhereToo() {
		assertThat(keys("#{'('.concat(#id).concat(')')}", "a")).containsExactly("(a)");
		assertThat(keys("#{'('.concat(#id).concat(')')}", TimeUnit.DAYS)).containsExactly("(DAYS)");
		assertThat(keys("#{@names.of(#id)}", TimeUnit.DAYS)).containsExactly("name DAYS");
		assertRefused("#{'('.concat(#id).concat(')')}", new Date(0), "of which '('.concat(#id).concat(')')",
				"is a java.util.Date, whose text need not be the same in every JVM");
		assertRefused("@names.of(#id)", List.of("a"), "key = \"@names.of(#id)\"",
				"is a java.util.ImmutableCollections$List12, whose text need not be");
	}

	@Test
	void isNotCompiledWhateverTheApplicationSays() {
		try (JvmProcess process = JvmProcess.start(ManyTypes.class,
				Map.of("spring.expression.compiler.mode", "immediate"))) {
			process.awaitLine("locked [1, a, true]");
		}
	}

	private static List<String> keys(String key, Object id) {
		return request("one", key, id);
	}

	private static List<String> request(String method, String key, Object... arguments) {
		return define(method, key).template().request(NAMES, arguments).keys();
	}

	private static LockDefinition define(String method, String key) {
		return Definitions.of(Parameters.class, method, Map.of("key", new String[] { key }), Map.of(),
				Map.of("names", NAMES));
	}

	private static void assertRefused(String key, Object id, String... messages) {
		assertThatIllegalArgumentException().isThrownBy(() -> keys(key, id))
			.withMessageStartingWith("@DistributedLock on " + Parameters.class.getName())
			.withMessageContainingAll(messages);
	}

	/**
	 * Evaluates one key with values of several types, in a JVM of its own.
	 */
	static class ManyTypes {

		public static void main(String[] args) {
			LockDefinition definition = define("one", "#id.toString()");
			System.out.println("locked " + Stream.of(1, "a", true)
				.flatMap((value) -> definition.template().request(NAMES, new Object[] { value }).keys().stream())
				.toList());
		}

	}

	interface Parameters {

		void one(Object id);

		void pair(Object id, Object other);

	}

	static class Names {

		int calls;

		public int next() {
			return ++this.calls;
		}

		public String of(String id) {
			return "name " + id;
		}

	}

}

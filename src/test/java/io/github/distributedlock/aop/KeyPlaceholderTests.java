package io.github.distributedlock.aop;

import java.util.List;
import java.util.Map;

import io.github.distributedlock.LockDefinitionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Properties in keys are text wherever they stand, and never code.
 */
class KeyPlaceholderTests {

	private static boolean executed;

	@AfterEach
	void nothingWasExecuted() {
		assertThat(executed).isFalse();
	}

	@Test
	void isAsItIsInTheTextOfATemplate() {
		assertThat(keys("${value}:#{#sku}", "eu")).containsExactly("eu:a");
		assertThat(keys("${value}:#{#sku}", "it's \"1+1\" {x} }")).containsExactly("it's \"1+1\" {x} }:a");
	}

	@Test
	void isPartOfALiteralWithItsQuotesDoubled() {
		assertThat(keys("'${value}-' + #sku", "eu")).containsExactly("eu-a");
		assertThat(keys("'${value}-' + #sku", "it's \"1\"")).containsExactly("it's \"1\"-a");
		assertThat(keys("\"${value}-\" + #sku", "it's \"1\"")).containsExactly("it's \"1\"-a");
		assertThat(keys("x#{'${value}-' + #sku}", "it's {1}")).containsExactly("xit's {1}-a");
		assertThat(keys("'it''s ${value}'", "it's")).containsExactly("it's it's");
	}

	@Test
	void isTextWhereThereIsNoExpression() {
		assertThat(keys("${value}", "eu")).containsExactly("eu");
		assertThat(keys("${value}-report", "eu")).containsExactly("eu-report");
		assertThat(keys("${no:it's}", "")).containsExactly("it's");
	}

	@Test
	void isRefusedOutsideOfQuotes() {
		for (String key : List.of("#sku + ${value}", "#{{#sku, ${value}}}!")) {
			assertThatExceptionOfType(LockDefinitionException.class).isThrownBy(() -> keys(key, "eu"))
				.withMessageContainingAll("key = \"" + key + "\" has the property ${value} outside of quotes",
						" (write '${value}'");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "${value}:#{#sku}", "'${value}' + #sku", "${value}", "x#{'${value}'.concat(#sku)}",
			"${no:${value}}" })
	void isNeverExecuted(String key) {
		String code = "T(" + KeyPlaceholderTests.class.getName() + ").execute()";
		assertThat(keys(key, code)).allMatch((locked) -> locked.contains(code));
		keys(key, "'+" + code + "+'");
		keys(key, "\"+" + code + "+\"");
		assertRefused(key, "#{" + code + "}");
	}

	@Test
	void valueThatReadsLikeAnExpressionIsRefused() {
		assertRefused("stock:${value}", "#{#sku}");
		assertRefused("stock:${value}:#{#p0}", "#sku");
		assertRefused("'stock:${value}'", "x #p0 y");
		assertRefused("stock:${no:#{#sku}}", "");
		assertThat(keys("'build${value}'", "#42")).containsExactly("build#42");
	}

	@Test
	void neitherMayItBecomeOneWithTheTextAroundIt() {
		assertRefused("#${value}:#{#sku}", "{1}", "with its properties, \"#{1}:\", reads like");
		assertRefused("${value}{#sku}:#{#sku}", "a#", "with its properties, \"a#{#sku}:\", reads like");
		assertRefused("#${value}{#sku}:#{#sku}", "", "with its properties");
	}

	@Test
	void doesNotTurnAnExpressionIntoATemplate() {
		assertThat(keys("'${value}' + #sku", "{")).containsExactly("{a");
	}

	@Test
	void defaultsAndNesting() {
		assertThat(keys("${no:it's}:#{#sku}", "")).containsExactly("it's:a");
		assertThat(keys("'${no:${value}}:${value:x}' + #sku", "e'u")).containsExactly("e'u:e'ua");
		assertThat(keys("'${${value}}'", "other")).containsExactly("another value");
		assertThat(keys("'${no:a{b}c}'", "")).containsExactly("a{b}c");
		assertRefused("'${value'", "");
	}

	@Test
	void propertyThatIsMissing() {
		assertThatExceptionOfType(LockDefinitionException.class).isThrownBy(() -> keys("${region}:#{#sku}", ""))
			.withMessageContainingAll("key = \"${region}:#{#sku}\" has a placeholder that cannot be resolved",
					") (define the property, or write a default, ${name:default})");
	}

	private static void assertRefused(String key, String value) {
		assertRefused(key, value, "with its properties, \"");
	}

	private static void assertRefused(String key, String value, String message) {
		assertThatExceptionOfType(LockDefinitionException.class).isThrownBy(() -> keys(key, value))
			.withMessageContainingAll(": key = \"" + key + "\"", message)
			.withMessageEndingWith("reads like an expression, but a property is text, the same for all calls"
					+ " (write the expression in the annotation)");
	}

	/**
	 * Returns the keys of a call with the argument "a".
	 * @param key the key of the annotation
	 * @param value the value of the property "value"
	 */
	private static List<String> keys(String key, String value) {
		Map<String, Object> properties = Map.of("value", value, "other", "another value");
		return Definitions.ofKey(KeyPlaceholderTests.class, "buy", key, properties)
			.template()
			.keys()
			.evaluate(new Object(), new Object[] { "a" });
	}

	void buy(String sku) {
	}

	public static String execute() {
		executed = true;
		return "executed";
	}

}

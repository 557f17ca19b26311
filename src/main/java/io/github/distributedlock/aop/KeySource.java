package io.github.distributedlock.aop;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.springframework.core.env.PropertyResolver;
import org.springframework.util.StringUtils;

/**
 * Puts properties into a string of the {@code key} attribute. Their values are text
 * wherever they stand, and never code: as they are in the text of a template, with
 * doubled quotes inside a literal, and as literals of their own elsewhere in an
 * expression.
 */
final class KeySource {

	private static final String EXPRESSION = "#{";

	private static final Pattern VARIABLE = Pattern.compile("#(\\w+)");

	private static final Pattern PATH = Pattern.compile("\\$\\{\\s*(\\w+)([\\w.]*)");

	/** Signs of an expression, as opposed to text that was meant as a template. */
	private static final Pattern CODE = Pattern.compile("['\"+#(]");

	private final AnnotatedMethod annotated;

	private final String written;

	private final ParameterIndexes parameters;

	private final boolean template;

	private final StringBuilder resolved = new StringBuilder();

	private Place place;

	private int braces;

	private KeySource(AnnotatedMethod annotated, String written, ParameterIndexes parameters, boolean template) {
		this.annotated = annotated;
		this.written = written;
		this.parameters = parameters;
		this.template = template;
		this.place = template ? Place.TEXT : Place.CODE;
	}

	/**
	 * Resolves a string of the annotation. What it is, is decided by what the author
	 * wrote, and not by a property.
	 * @throws io.github.distributedlock.LockDefinitionException if a property is missing,
	 * or reads like an expression
	 */
	static KeySource resolve(AnnotatedMethod annotated, String written, PropertyResolver properties,
			ParameterIndexes parameters) {
		List<Placeholders.Piece> pieces = Placeholders.split(written);
		boolean template = pieces.stream().anyMatch((piece) -> !piece.placeholder() && isExpression(piece.text()));
		KeySource source = new KeySource(annotated, written, parameters, template);
		int expressions = 0;
		for (Placeholders.Piece piece : pieces) {
			String value = source.value(piece.text(), properties);
			if (piece.placeholder()) {
				source.addProperty(piece.text(), value);
			}
			else {
				expressions += StringUtils.countOccurrencesOf(value, EXPRESSION);
				source.addWritten(value);
			}
		}
		// Neither may a value make one together with the text around it.
		if (StringUtils.countOccurrencesOf(source.text(), EXPRESSION) != expressions) {
			throw source.refuse("with its properties, \"" + source.text() + "\",");
		}
		return source;
	}

	private static boolean isExpression(String text) {
		return text.contains(EXPRESSION);
	}

	private String value(String piece, PropertyResolver properties) {
		return Placeholders.resolve(this.annotated, "key", this.written, piece, properties, parameterRemedy(piece));
	}

	/*
	 * What to write for ${order.id} if there is a parameter of that name.
	 */
	private String parameterRemedy(String piece) {
		Matcher path = PATH.matcher(piece);
		if (!path.find() || this.parameters.of(path.group(1)) == null) {
			return "";
		}
		String reference = "#" + path.group(1) + path.group(2);
		boolean text = this.place == Place.TEXT || (!this.template && !CODE.matcher(this.written).find());
		return "write " + (text ? "#{" + reference + "}" : reference) + " for the parameter, or ";
	}

	private void addProperty(String placeholder, String value) {
		boolean namesParameter = VARIABLE.matcher(value)
			.results()
			.anyMatch((variable) -> this.parameters.of(variable.group(1)) != null);
		if (isExpression(value) || namesParameter) {
			throw refuse("has the placeholder " + placeholder + ", whose value \"" + value + "\"");
		}
		this.resolved.append(switch (this.place) {
			case TEXT -> value;
			case CODE -> " '" + value.replace("'", "''") + "' ";
			case SINGLE_QUOTES -> value.replace("'", "''");
			case DOUBLE_QUOTES -> value.replace("\"", "\"\"");
		});
	}

	private void addWritten(String text) {
		for (int index = 0; index < text.length(); index++) {
			this.place = placeAfter(text, index);
		}
		this.resolved.append(text);
	}

	private Place placeAfter(String text, int index) {
		char character = text.charAt(index);
		return switch (this.place) {
			case TEXT -> text.startsWith(EXPRESSION, index) ? Place.CODE : Place.TEXT;
			case CODE -> switch (character) {
				case '\'' -> Place.SINGLE_QUOTES;
				case '"' -> Place.DOUBLE_QUOTES;
				case '{', '}' -> placeAfterBrace(character);
				default -> Place.CODE;
			};
			case SINGLE_QUOTES -> (character == '\'') ? Place.CODE : Place.SINGLE_QUOTES;
			case DOUBLE_QUOTES -> (character == '"') ? Place.CODE : Place.DOUBLE_QUOTES;
		};
	}

	private Place placeAfterBrace(char brace) {
		this.braces += (brace == '{') ? 1 : -1;
		return (this.template && this.braces == 0) ? Place.TEXT : Place.CODE;
	}

	private RuntimeException refuse(String what) {
		return this.annotated.refuse("key", this.written,
				what + " reads like an expression, but a property is text, the same for all calls",
				"write the expression in the annotation");
	}

	/**
	 * The string with its properties.
	 */
	String text() {
		return this.resolved.toString();
	}

	/**
	 * Whether it is a template, and not an expression.
	 */
	boolean isTemplate() {
		return this.template;
	}

	private enum Place {

		TEXT, CODE, SINGLE_QUOTES, DOUBLE_QUOTES

	}

}

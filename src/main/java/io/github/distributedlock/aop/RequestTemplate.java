package io.github.distributedlock.aop;

import java.time.Duration;
import java.util.List;
import java.util.function.BiFunction;
import java.util.stream.IntStream;

import io.github.distributedlock.LockRequest;
import io.github.distributedlock.annotation.DistributedLock;

import org.jspecify.annotations.Nullable;

import org.springframework.core.env.PropertyResolver;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * The request of an annotated method, but for the keys, which each call has of its own.
 */
final class RequestTemplate {

	private final AnnotatedMethod annotated;

	private final PropertyResolver properties;

	private final KeyExpressions keys;

	private final LockRequest prototype;

	/**
	 * Resolves the attributes of the annotation.
	 * @throws io.github.distributedlock.LockDefinitionException if an attribute cannot be
	 * resolved, or cannot be combined with the others
	 */
	RequestTemplate(AnnotatedMethod annotated, PropertyResolver properties, KeyExpressions keys) {
		this.annotated = annotated;
		this.properties = properties;
		this.keys = keys;
		List<String> constant = keys.ifConstant();
		this.prototype = withAttributes(LockRequest.of((constant != null) ? constant : placeholderKeys(annotated)));
	}

	KeyExpressions keys() {
		return this.keys;
	}

	/**
	 * Returns a placeholder for each key of the annotation, since some attributes cannot
	 * be combined with several keys.
	 */
	private static List<String> placeholderKeys(AnnotatedMethod annotated) {
		return IntStream.rangeClosed(1, annotated.annotation().key().length)
			.mapToObj((number) -> "key " + number + " of " + annotated.shortName())
			.toList();
	}

	private LockRequest withAttributes(LockRequest request) {
		DistributedLock annotation = this.annotated.annotation();
		request = with(request, "waitTime", annotation.waitTime(), LockRequest::waitTime);
		request = with(request, "leaseTime", annotation.leaseTime(), LockRequest::leaseTime);
		request = with(request, "maxHoldTime", annotation.maxHoldTime(), LockRequest::maxHoldTime);
		request = with(request, "minHoldTime", annotation.minHoldTime(), LockRequest::minHoldTime);
		request = with(request, "keepTime", annotation.keepTime(), LockRequest::keepTime);
		request = withPermits(request, annotation.permits(), annotation.permitsString());
		String name = resolve("name", annotation.name());
		if (name.contains("#{")) {
			throw this.annotated.refuse("name", annotation.name(),
					"has an expression, but a name is one of few, the same for all calls", "leave the expression out");
		}
		try {
			LockRequest whole = request.mode(annotation.mode())
				.fair(annotation.fair())
				.fenced(annotation.fenced())
				.name(name.isEmpty() ? this.annotated.shortName() : name)
				.releaseOn(annotation.releaseOn())
				.awaitedOnStop(true);
			whole.requireValid();
			return whole;
		}
		catch (IllegalArgumentException ex) {
			throw this.annotated.refuse("not possible: " + ex.getMessage(), null);
		}
	}

	private LockRequest with(LockRequest request, String attribute, String written,
			BiFunction<LockRequest, Duration, LockRequest> wither) {
		String resolved = resolve(attribute, written);
		if (resolved.isEmpty()) {
			return request;
		}
		String shown = shown(written, resolved);
		Duration duration;
		try {
			duration = DurationFormatterUtils.detectAndParse(resolved, DurationFormat.Unit.MILLIS);
		}
		catch (IllegalArgumentException | ArithmeticException ex) {
			throw this.annotated.refuse(attribute, written, shown + "is not a duration",
					"write \"2s\", \"PT2S\" or \"500\" (milliseconds)", ex);
		}
		LockRequest changed;
		try {
			changed = wither.apply(request, duration);
			changed.requireValid();
		}
		catch (IllegalArgumentException ex) {
			boolean endless = duration.isNegative() && !attribute.equals("waitTime");
			throw this.annotated.refuse(attribute, written, shown + "cannot be: " + ex.getMessage(),
					endless ? "leave it empty: the lease is then renewed until the method ends" : null, ex);
		}
		if (resolved.matches("[1-9]\\d?")) {
			throw this.annotated.refuse(attribute, written,
					shown + "is " + resolved + " ms, since a number without a unit is milliseconds",
					"write " + resolved + "s if seconds are meant, or " + resolved + "ms");
		}
		return changed;
	}

	private LockRequest withPermits(LockRequest request, int number, String text) {
		boolean isText = !text.isEmpty();
		if (isText && number != 1) {
			throw this.annotated.refuse("permits", number, "is there beside permitsString = \"" + text + "\"",
					"write one of them");
		}
		String resolved = isText ? resolve("permitsString", text) : String.valueOf(number);
		try {
			return request.permits(Integer.parseInt(resolved));
		}
		catch (IllegalArgumentException ex) {
			throw this.annotated.refuse(isText ? "permitsString" : "permits", isText ? text : number,
					(isText ? shown(text, resolved) : "") + "cannot be: "
							+ ((ex instanceof NumberFormatException) ? "it is not a number" : ex.getMessage()),
					"write a number from 1 to " + LockRequest.MOST_PERMITS + (isText
							? ", or a property that is one, \"${…}\": the number is the same for all calls" : ""),
					ex);
		}
	}

	/**
	 * Returns the value of a placeholder for a message.
	 */
	private static String shown(String written, String resolved) {
		return written.equals(resolved) ? "" : "(" + resolved + ") ";
	}

	private String resolve(String attribute, String written) {
		return this.annotated.resolve(attribute, written, written, this.properties).trim();
	}

	/**
	 * Returns the request as far as it is the same for all calls. Unless the keys are
	 * constant, placeholders stand for them.
	 */
	LockRequest prototype() {
		return this.prototype;
	}

	/**
	 * Returns the request of one call.
	 * @throws IllegalArgumentException if an expression has no usable value
	 */
	LockRequest request(Object target, Object[] args) {
		return (this.keys.ifConstant() != null) ? this.prototype
				: this.prototype.keys(this.keys.evaluate(target, args));
	}

}

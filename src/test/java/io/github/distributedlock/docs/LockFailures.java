package io.github.distributedlock.docs;

// tag::http[]
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockNotAcquiredException;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

@RestControllerAdvice
public class LockFailures {

	// Another request works on the same thing. The client may try again.
	@ExceptionHandler
	public ProblemDetail busy(LockNotAcquiredException ex) {
		return ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, "Another request is working on this");
	}

	// The store is down. Nothing is wrong with the request.
	@ExceptionHandler
	public ProblemDetail storeIsDown(LockBackendException ex) {
		return ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, "Try again in a moment");
	}

}
// end::http[]

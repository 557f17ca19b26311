package io.github.distributedlock.docs;

// tag::once-per-cluster[]
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.annotation.IfBusy;

@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@DistributedLock(ifBusy = IfBusy.SKIP, minHoldTime = "30s")
public @interface OncePerCluster {

}
// end::once-per-cluster[]

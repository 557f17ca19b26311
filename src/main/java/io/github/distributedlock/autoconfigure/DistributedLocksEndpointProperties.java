package io.github.distributedlock.autoconfigure;

import java.util.Set;

import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Configuration of the endpoint.
 *
 * @param showValues When to show keys, owners and names of threads, which may be personal
 * data.
 * @param roles Roles that are authorized to be shown values. When empty, all
 * authenticated users are authorized.
 */
@ConfigurationProperties("management.endpoint.distributedlocks")
record DistributedLocksEndpointProperties(@DefaultValue("never") Show showValues, @DefaultValue Set<String> roles) {
}

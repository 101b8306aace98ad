package io.kvorum.node;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import io.kvorum.app.KvorumApplication;
import org.springframework.boot.micrometer.metrics.test.autoconfigure.AutoConfigureMetrics;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.test.annotation.DirtiesContext;

/**
 * A test of a whole node: the application as it is, on a free port, with a directory of
 * its own ({@link NodeDefaults}). BlockHound is there, so that a call that blocks an
 * event loop fails the request that made it. Memory is so small that most of what is
 * written is on disk.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@SpringBootTest(classes = KvorumApplication.class, webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "kvorum.storage.cache-size=8MB", "kvorum.storage.memtable-size=4MB",
				"kvorum.storage.min-free-space=0B", "kvorum.api.max-value-size=256KB" })
@AutoConfigureMetrics
@DirtiesContext
@interface NodeTest {

}

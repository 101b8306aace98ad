package io.kvorum.testcontainers;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import com.github.dockerjava.api.exception.NotFoundException;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.testcontainers.DockerClientFactory;

/** The image that tests run, and what to do without it. */
final class TestImage implements ExecutionCondition {

	/** Built by {@code docker build -f config/image/Dockerfile -t kvorum:0.1.0 .} */
	static final String NAME = System.getProperty("kvorum.test.image", "kvorum:0.1.0");

	@Override
	public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
		if (!DockerClientFactory.instance().isDockerAvailable()) {
			return ConditionEvaluationResult.disabled("There is no Docker on this machine");
		}
		try {
			DockerClientFactory.instance().client().inspectImageCmd(NAME).exec();
			return ConditionEvaluationResult.enabled("Docker has the image " + NAME);
		}
		catch (NotFoundException ex) {
			return ConditionEvaluationResult.disabled("Docker has no image " + NAME);
		}
	}

	/** Skips the tests of a class if there is no Docker, or no image. */
	@Target(ElementType.TYPE)
	@Retention(RetentionPolicy.RUNTIME)
	@ExtendWith(TestImage.class)
	@interface Required {

	}

}

package io.kvorum.app;

import java.nio.file.Path;

import io.kvorum.access.AccessControl;
import io.kvorum.access.AccessEvents;
import io.kvorum.access.KeysFile;
import io.kvorum.access.KeysFileException;
import io.kvorum.clock.TimeSource;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * Configures access control by the bound properties alone. A condition may see another
 * value than the binder, and the node would then admit every request.
 */
@Configuration(proxyBeanMethods = false)
class AccessConfiguration {

	private static final String FILE = "kvorum.access.keys-file";

	@Bean
	Keys apiKeys(KvorumProperties properties, Environment environment, TimeSource time) {
		Path path = properties.access().keysFile();
		if (path == null) {
			if (environment.containsProperty(FILE)) {
				// An operator wants keys, but a variable in the value is not set.
				throw new UnusableKeysException(
						FILE + " is set, and its value is empty: it must be the path of the file with the API keys.");
			}
			return new Keys(null, new byte[0], AccessControl.off(time));
		}
		try {
			byte[] content = KeysFiles.read(path);
			return new Keys(path, content, AccessControl.by(KeysFile.read(content, time.nanos()), time));
		}
		catch (KeysFileException ex) {
			throw new UnusableKeysException(path, ex);
		}
	}

	@Bean
	AccessControl accessControl(Keys keys) {
		return keys.control();
	}

	@Bean
	SmartLifecycle keysWatch(Keys keys, KvorumProperties properties, TimeSource time, AccessEvents events) {
		return new KeysWatch(keys.path(), keys.content(), properties.access().reloadInterval(), keys.control(), time,
				events);
	}

	@Bean
	AccessReport accessReport(AccessControl control, Environment environment) {
		return new AccessReport(control, environment);
	}

	/**
	 * The keys with which the node starts.
	 *
	 * @param path null if access is not controlled
	 * @param content of the file; empty if access is not controlled
	 */
	@SuppressWarnings("ArrayRecordComponent") // shared on purpose, and never compared
	record Keys(@Nullable Path path, byte[] content, AccessControl control) {
	}

}

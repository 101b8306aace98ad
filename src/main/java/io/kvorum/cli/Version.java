package io.kvorum.cli;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

import picocli.CommandLine.IVersionProvider;

/** The version of the build, and of the API that this uses. */
final class Version implements IVersionProvider {

	@Override
	public String[] getVersion() throws IOException {
		Properties build = new Properties();
		try (InputStream in = Version.class.getResourceAsStream("/META-INF/build-info.properties")) {
			if (in != null) {
				build.load(in);
			}
		}
		return new String[] { "Kvorum %s, API v0".formatted(build.getProperty("build.version", "of no build")) };
	}

}

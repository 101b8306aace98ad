package io.kvorum.spring.codec;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputFilter;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;

import io.kvorum.client.Codec;
import org.springframework.core.ConfigurableObjectInputStream;
import org.springframework.core.serializer.support.SerializationFailedException;
import org.springframework.util.ClassUtils;

/**
 * Objects by the serialization of Java, as {@code application/x-java-serialized-object}.
 * <p>
 * <b>Reading such objects runs code of their classes.</b> Whatever can write to the store
 * could choose among all classes of the class path, and take over this process. So there
 * is no codec without a filter, and a good one names the packages of the application's
 * own values. Where JSON is enough, {@link JsonObjectCodec} is the better choice: it can
 * be read by people and other programs, and after a class has changed.
 */
public final class JavaObjectCodec implements Codec<Object> {

	private static final String CONTENT_TYPE = "application/x-java-serialized-object";

	private final ObjectInputFilter filter;

	/** That of the application: values are read on threads that do not know it. */
	private final ClassLoader classes;

	private JavaObjectCodec(ObjectInputFilter filter, ClassLoader classes) {
		this.filter = filter;
		this.classes = classes;
	}

	/**
	 * Reads objects of the packages that are named, and none of others.
	 * @param packages for instance {@code "com.example.orders"}; those below them are
	 * allowed, too, and so are the packages {@code java.lang}, {@code java.math},
	 * {@code java.time}, {@code java.util} and {@code java.util.concurrent} without those
	 * below them. An object has at most 100,000 others in it, 32 deep, and arrays of at
	 * most 1,000,000 elements
	 * @return the codec
	 */
	public static JavaObjectCodec allowing(String... packages) {
		StringBuilder pattern = new StringBuilder(
				"maxdepth=32;maxrefs=100000;maxarray=1000000;java.lang.*;java.math.*;java.time.*;java.util.*;java.util.concurrent.*;");
		for (String allowed : packages) {
			if (!allowed.matches("\\w+(\\.\\w+)*")) {
				throw new IllegalArgumentException("this is no name of a package: \"" + allowed + '"');
			}
			pattern.append(allowed).append(".**;");
		}
		return filtered(ObjectInputFilter.Config.createFilter(pattern.append("!*").toString()));
	}

	/**
	 * Reads what a filter allows.
	 * @param filter says which classes, and how many objects; what it leaves undecided is
	 * refused
	 * @return the codec
	 */
	public static JavaObjectCodec filtered(ObjectInputFilter filter) {
		return new JavaObjectCodec(ObjectInputFilter.rejectUndecidedClass(filter), loader());
	}

	private static ClassLoader loader() {
		ClassLoader loader = ClassUtils.getDefaultClassLoader();
		return (loader != null) ? loader : ClassLoader.getSystemClassLoader();
	}

	@Override
	public String contentType() {
		return CONTENT_TYPE;
	}

	@Override
	public byte[] encode(Object value) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
			out.writeObject(value);
		}
		catch (IOException ex) {
			throw new SerializationFailedException(
					"an object of %s cannot be written: %s".formatted(value.getClass().getName(), ex.getMessage()), ex);
		}
		return bytes.toByteArray();
	}

	@Override
	public Object decode(byte[] value, String contentType) {
		ContentTypes.check(CONTENT_TYPE, contentType);
		try (ObjectInputStream in = new ConfigurableObjectInputStream(new ByteArrayInputStream(value), this.classes)) {
			in.setObjectInputFilter(this.filter);
			return in.readObject();
		}
		catch (IOException | ClassNotFoundException ex) {
			throw new SerializationFailedException("a stored object cannot be read: " + ex.getMessage(), ex);
		}
	}

}

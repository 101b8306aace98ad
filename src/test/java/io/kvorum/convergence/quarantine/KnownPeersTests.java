package io.kvorum.convergence.quarantine;

import java.util.Arrays;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.quarantine.Membership.State;
import io.kvorum.testing.InMemoryRecord;
import io.kvorum.testing.Now;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Whose disks node a remembers when the nodes a, b and c change. */
class KnownPeersTests {

	private static final long DISK = 7;

	private final Topology abc = of("abc");

	private final KnownPeers peers = new KnownPeers(this.abc, this.abc.members().getFirst(), new InMemoryRecord(1));

	private static Topology of(String nodes) {
		return Topology.of(Arrays.stream(nodes.split("")).map("http://%s:1"::formatted).toList(), 3);
	}

	private long remembered(Member member) {
		return this.peers.introductionTo(member, 0, Membership.NEW, 0, false, 0).remembered();
	}

	/** One that changed places with an empty node while a change was given up is new. */
	@ParameterizedTest
	@CsvSource({ "abc, abd, true", "abcd, abcd, true", "ac, ac, false", "ac, abc, false", "ab, ab, true" })
	void aDiskIsRememberedAsLongAsItsNodeStays(String before, String after, boolean isRemembered) {
		Member b = this.abc.member("http://b:1");
		Membership member = new Membership(State.MEMBER, 1);
		Now.of(this.peers.remember(b, new Introduction(1, DISK, member, 1, 0, 0, 0),
				new AdmissionRule(member, 1, 1, 2, 1)));
		assertThat(remembered(b)).isEqualTo(DISK);
		Topology next = before.equals(after) ? of(after) : Topology.changing(of(before), of(after));

		Now.of(this.peers.forget(next));
		this.peers.become(next, next.member("http://a:1"));

		assertThat(remembered(b)).isEqualTo(isRemembered ? DISK : 0);
		assertThat(this.peers.introductions(_ -> true)).hasSize(isRemembered ? 1 : 0);
	}

}

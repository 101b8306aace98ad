package io.kvorum.convergence.change;

import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.kvorum.cluster.Member;
import io.kvorum.cluster.TopologyChange;
import org.jspecify.annotations.Nullable;

/**
 * What a change of the nodes copies, as one node knows it. Sizes are estimates before
 * compression, in bytes: all partitions are taken for equally large.
 *
 * @param self the identity of that node
 * @param nodes by identity, of all nodes before and after the change
 * @param bytesPerSecond what arrived on all nodes of late
 */
public record CopyProgress(long self, Map<Long, OfNode> nodes, long bytesPerSecond) {

	/**
	 * What is copied to a node.
	 *
	 * @param step null if it is not known to be in the change
	 * @param bytes all that it is to get
	 * @param copiedBytes what it has got since it is in the change, or has restarted
	 */
	public record OfNode(@Nullable Step step, long bytes, long copiedBytes) {

		private long left() {
			return this.bytes - this.copiedBytes;
		}

	}

	/**
	 * What a node says of itself.
	 *
	 * @param step null if it is not in the change
	 * @param heldBytes what it had when the change began; 0 if unknown
	 * @param copiedBytes what repairs have brought since
	 */
	record Report(Member member, @Nullable Step step, long heldBytes, long copiedBytes) {

		/** Stands for a node that has said nothing. */
		static Report none(Member member) {
			return new Report(member, null, 0, 0);
		}

	}

	/** Puts together what the nodes say. */
	static CopyProgress of(Member self, TopologyChange change, Collection<Report> reports, long bytesPerSecond) {
		double bytesPerPartition = bytesPerPartition(change, reports);
		Map<Long, OfNode> nodes = new LinkedHashMap<>();
		for (Report report : reports) {
			long expected = Math.round(change.shareOf(report.member.id()).gained() * bytesPerPartition);
			long bytes = isComplete(report.step) ? report.copiedBytes : Math.max(expected, report.copiedBytes);
			nodes.put(report.member.id(), new OfNode(report.step, bytes, report.copiedBytes));
		}
		return new CopyProgress(self.id(), nodes, bytesPerSecond);
	}

	private static boolean isComplete(@Nullable Step step) {
		return step != null && step.isSynced();
	}

	/** The mean of those nodes that hold something and say so. */
	private static double bytesPerPartition(TopologyChange change, Collection<Report> reports) {
		List<Report> known = reports.stream()
			.filter(report -> report.heldBytes > 0 && change.shareOf(report.member.id()).held() > 0)
			.toList();
		long partitions = known.stream().mapToLong(report -> change.shareOf(report.member.id()).held()).sum();
		long bytes = known.stream().mapToLong(Report::heldBytes).sum();
		return (partitions > 0) ? (double) bytes / partitions : 0;
	}

	/** What is copied to all nodes, for operators. */
	public Map<String, Object> describe() {
		Map<String, Object> described = new LinkedHashMap<>();
		described.put("bytes", bytes());
		described.put("movedBytes", copiedBytes());
		described.put("bytesPerSecond", this.bytesPerSecond);
		Duration remaining = remaining();
		if (remaining != null) {
			described.put("remainingSeconds", remaining.toSeconds());
		}
		return described;
	}

	/** What is copied to a node of the change. */
	public OfNode of(Member member) {
		return Objects.requireNonNull(this.nodes.get(member.id()));
	}

	/** What is copied to the node that says so. */
	public OfNode own() {
		return Objects.requireNonNull(this.nodes.get(this.self));
	}

	/** All that is to be copied. */
	public long bytes() {
		return this.nodes.values().stream().mapToLong(OfNode::bytes).sum();
	}

	/** All that was copied. */
	public long copiedBytes() {
		return this.nodes.values().stream().mapToLong(OfNode::copiedBytes).sum();
	}

	/**
	 * The time that the rest takes at the present rate; null if nothing arrives, or if no
	 * node has said yet what it holds.
	 */
	public @Nullable Duration remaining() {
		long left = this.nodes.values().stream().mapToLong(OfNode::left).sum();
		if (left == 0) {
			boolean isComplete = this.nodes.values().stream().allMatch(node -> isComplete(node.step));
			return (isComplete || bytes() > 0) ? Duration.ZERO : null;
		}
		return (this.bytesPerSecond > 0) ? Duration.ofSeconds(Math.ceilDiv(left, this.bytesPerSecond)) : null;
	}

}

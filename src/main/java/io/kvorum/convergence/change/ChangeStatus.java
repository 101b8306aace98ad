package io.kvorum.convergence.change;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.kvorum.cluster.Member;

/**
 * The progress of a change, as one node knows it.
 *
 * @param step the step of this node
 * @param waitsFor the nodes that it waits for until the next step; empty if it waits for
 * none
 * @param why what has to be true of those nodes, in words
 */
public record ChangeStatus(Step step, List<Member> waitsFor, String why) {

	/** The progress for operators. */
	public Map<String, Object> describe() {
		Map<String, Object> described = new LinkedHashMap<>();
		described.put("step", this.step.text());
		described.put("waitsFor", this.waitsFor.stream().map(Member::address).toList());
		if (!this.why.isEmpty()) {
			described.put("why", this.why);
		}
		return described;
	}

}

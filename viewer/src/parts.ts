// SPDX-License-Identifier: Apache-2.0
// What a page holds: recordings of samples, coverage, runs. A page has any number of each.

import { Block } from "./blocks";
import { Coverage } from "./coverage";
import { Diff } from "./diff";
import { Recording, SourceFile } from "./recording";
import { Runs } from "./runs";

/** A recording without samples, for pages that have none. */
const empty = () => new Recording({ about: { metrics: [], threads: [], notes: [], facts: [], samples: 0, title: "", truth: "" }, columns: new Map() });

export class Parts {
  recordings: Recording[] = [];
  coverages: Coverage[] = [];
  runs: Runs[] = [];
  diff: Diff | null = null;
  private numbers = new Map<number, Recording>();
  private texts = new Map<string, SourceFile>();

  /** Takes in a block that stands before the viewer, or one behind it. */
  add(block: Block) {
    const { kind, recording } = block.about;
    if (kind === "overview") {
      const made = new Recording(block, this.texts), preview = this.numbers.get(recording);
      this.numbers.set(recording, made);
      if (preview) this.recordings[this.recordings.indexOf(preview)] = made;
      else this.recordings.push(made);
    } else if (kind === "coverage") this.coverages.push(new Coverage(block));
    else if (kind === "diff") this.diff = new Diff(block);
    else if (kind === "runs") this.runs.push(new Runs(block));
    else this.numbers.get(recording)?.add(block);
  }

  /** When all of the page is here: the blocks that are read when they are asked for. */
  addLater(elements: Element[]) {
    let at = 0;
    for (const c of this.coverages) at += c.take(elements, at);
    for (const r of this.recordings) r.checkSamples();
  }

  /** The side of a comparison that a recording is: 0 old, 1 new, -1 neither; and the recording of the other side. */
  sideOf(r: Recording): number {
    for (const [number, made] of this.numbers) if (made === r) return this.diff?.side(number) ?? -1;
    return -1;
  }
  against(r: Recording): Recording | null {
    const side = this.sideOf(r);
    return side < 0 ? null : this.numbers.get(this.diff!.about.sides[1 - side].recording) ?? null;
  }

  /** The recording that is shown first. */
  first = () => this.recordings[0] ?? empty();
  wrong = () => [...this.recordings.flatMap(r => r.wrong), ...this.coverages.flatMap(c => c.wrong), ...this.runs.flatMap(r => r.wrong), ...(this.diff?.wrong ?? [])];
}

import type { BindingAnswer } from "../binding/binding.ts";
import { A2ALeaseError } from "../errors/base.ts";
import { CardDriftError, LeaseUnverifiableError } from "../errors/lease.ts";
import { LifecycleMismatchError } from "../errors/lifecycle.ts";
import { observe } from "../lifecycle/observe.ts";
import type { ListTasksRequest, ListTasksResponse } from "../model/requests.ts";
import type { Task } from "../model/task.ts";
import { isoTime } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import { budgetOf, type Call, type CallOptions, scopeOf } from "./call.ts";
import { forcedCheck } from "./check.ts";
import type { EntryContext } from "./entry.ts";
import type { HandleEntry } from "./handle.ts";
import type { Mark } from "./judged.ts";
import { createListRequest } from "./list-request.ts";
import { type Listed, sortListed } from "./listed.ts";
import { callOnce } from "./pipeline.ts";
import { receiveTask } from "./receive.ts";
import { pinForPlan } from "./renegotiate.ts";
import type { LeaseHolder, LeasePlan, Session } from "./session.ts";
import { isSurprisingTransition } from "./surprise.ts";
import { type PageContent, startWalk, type TaskFailure, type TaskPage } from "./task-page.ts";
import type { TrackedTask } from "./track.ts";

type Marks = ReadonlyMap<TrackedTask, Mark>;

/** A task that was not known here when the request left had come nowhere then. */
const nowhere: Mark = Object.freeze({ statusCount: 0, pieceCount: 0 });

/** Lists tasks (3.1.4) page by page. */
export async function listTasks(
  lister: EntryContext,
  given: ListTasksRequest,
  options: CallOptions,
): Promise<TaskPage> {
  const { pageToken, ...filters } = createListRequest(given);
  const { pages, emptyPages } = lister.session.options.limits;
  const read = (token: string | undefined, more: CallOptions = {}) =>
    readPage(lister, defined({ ...filters, pageToken: token }), { ...options, ...more });
  return startWalk({ read, maxPages: pages, maxEmptyPages: emptyPages }, pageToken, undefined);
}

/** Reads one page, with a check of the plan's card alongside, and folds its tasks in. */
async function readPage(
  lister: EntryContext,
  request: ListTasksRequest,
  options: CallOptions,
): Promise<PageContent> {
  const { session, desk } = lister;
  const holder = lister.plan();
  const { requirements } = holder;
  const marks = desk.marks();
  const call: Call<"ListTasks"> = {
    operation: "ListTasks",
    request,
    holder,
    requirements,
    options,
    knowsTask: false,
  };
  return callOnce(session, call, async ({ answer, forceCheck }) => {
    const found = sortListed(answer, request);
    const known = await Promise.all(found.tasks.map(({ task }) => desk.find(task.id)));
    // One look at the card for the whole page, and before any of its tasks is taken over.
    const seenAt = isoTime(session.clock.now());
    const isSurprising = found.tasks.some(({ task }, at) =>
      isSurprisingTransition(
        known[at]?.tracked.last,
        observe(task, { source: "list", seenAt, isFullHistory: false }),
      ),
    );
    if (isSurprising) await forceCheck(holder);
    const plan = planOfTheMoment(session, holder);
    const entries = found.tasks.map(({ task }, at) => known[at] ?? desk.begin(task.id, task.contextId, plan));
    const failures = await takeAll(session, call, marks, { listed: found.tasks, entries });
    return pageOf(answer.value, { entries, failures, deviations: found.deviations });
  });
}

/** What a task that nobody knows is pinned to: the card that was checked a moment ago. */
function planOfTheMoment(session: Session, holder: LeaseHolder): LeasePlan {
  const { pin, requirements, policy } = holder;
  const { snapshot } = session.lastReading;
  const isSame = snapshot.digest === pin.digest;
  return { pin: isSame ? pin : pinForPlan(session, snapshot, requirements), requirements, policy };
}

/** Takes over every task that may be; whatever keeps one from it is told with the page, and does not stop the others. */
async function takeAll(
  session: Session,
  call: Call<"ListTasks">,
  marks: Marks,
  page: { readonly listed: readonly Listed[]; readonly entries: readonly HandleEntry[] },
): Promise<readonly TaskFailure[]> {
  const scope = scopeOf(session, call, budgetOf(session, call));
  /** The call's own check speaks for the plan's pin alone; a task with another one has its own judgement. */
  async function check({ holder }: HandleEntry): Promise<void> {
    if (isCovered(session, call.holder, holder)) return;
    await forcedCheck(session, { ...call, holder, requirements: holder.requirements }, scope)(holder);
  }
  try {
    const taken = await Promise.allSettled(
      page.listed.map(async ({ task, deviations }, at) => {
        const entry = page.entries[at];
        if (!entry) return;
        await check(entry);
        entry.tracked.note(deviations);
        await take(task, entry, marks);
      }),
    );
    return taken.flatMap((result, at) => {
      if (result.status === "fulfilled") return [];
      const { reason } = result;
      const task = page.entries[at]?.handle;
      if (!task || !isOfOneTask(reason)) throw reason;
      return [Object.freeze({ task, error: reason })];
    });
  } finally {
    scope.release();
  }
}

async function take(task: Task, entry: HandleEntry, marks: Marks): Promise<void> {
  const { tracked, holder } = entry;
  const mark = marks.get(tracked) ?? nowhere;
  // 3.1.4: artifacts come when they are asked for, and some agents leave them out even then.
  const omissions = { history: true, artifacts: true };
  // The page as a whole was judged by the card, and the task's own pin after it.
  const forceCheck = async () => {};
  try {
    await receiveTask(task, { tracked, holder, source: "list", forceCheck, omissions, mark });
  } catch (error) {
    // Whatever it shows, the task is there: its handle is pinned, and what was odd about it is kept.
    if (error instanceof LifecycleMismatchError) await tracked.commit();
    throw error;
  }
}

/** Whether the check of the plan was the check of this pin as well. */
function isCovered({ lastReading }: Session, plan: LeaseHolder, { pin, policy }: LeaseHolder): boolean {
  const isPlans = pin.digest === plan.pin.digest && policy.compare === plan.policy.compare;
  return isPlans || pin.digest === lastReading.snapshot.digest;
}

function isOfOneTask(error: unknown): error is A2ALeaseError {
  const kinds = [LifecycleMismatchError, CardDriftError, LeaseUnverifiableError];
  return error instanceof A2ALeaseError && kinds.some((kind) => error instanceof kind);
}

function pageOf(
  { nextPageToken, pageSize, totalSize }: BindingAnswer<ListTasksResponse>["value"],
  taken: {
    readonly entries: readonly HandleEntry[];
    readonly failures: readonly TaskFailure[];
    readonly deviations: PageContent["deviations"];
  },
): PageContent {
  return {
    tasks: Object.freeze(taken.entries.map(({ handle }) => handle)),
    failures: Object.freeze(taken.failures),
    deviations: taken.deviations,
    nextPageToken,
    ...defined({ pageSize, totalSize }),
  };
}

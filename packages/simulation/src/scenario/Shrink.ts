/** Makes a failing plan shorter while it still fails: fewer clients, operations, responses and faults. Pure. */
import type { Plan } from "./Plan.ts"

/** Every plan that is this one with a little less, the greatest cuts first. */
export const smaller = function* (plan: Plan): Generator<Plan> {
  const { clients, model } = plan
  for (let i = 0; i < clients.length; i++) {
    if (clients.length > 1) yield { ...plan, clients: clients.toSpliced(i, 1) }
  }
  for (const [i, operations] of clients.entries()) {
    for (let size = operations.length >> 1; size >= 1; size >>= 1) {
      for (let at = 0; at + size <= operations.length; at += size) {
        yield { ...plan, clients: clients.with(i, operations.toSpliced(at, size)) }
      }
    }
  }
  const { store } = plan
  if (store.restart) yield { ...plan, store: { ...store, restart: false } }
  for (let i = 0; i < store.faults.length; i++) {
    yield { ...plan, store: { ...store, faults: store.faults.toSpliced(i, 1) } }
  }
  for (let i = 0; i < store.appendFaults.length; i++) {
    yield { ...plan, store: { ...store, appendFaults: store.appendFaults.toSpliced(i, 1) } }
  }
  for (let i = 0; i < store.unheard.length; i++) {
    yield { ...plan, store: { ...store, unheard: store.unheard.toSpliced(i, 1) } }
  }
  for (let i = 0; i < model.length; i++) {
    if (model.length > 1) yield { ...plan, model: model.toSpliced(i, 1) }
  }
  for (const [i, response] of model.entries()) {
    if (response.calls.length > 0)
      yield { ...plan, model: model.with(i, { ...response, calls: [] }) }
    if (response.reasoning > 0)
      yield { ...plan, model: model.with(i, { ...response, reasoning: 0 }) }
    if (response.pieces > 1) {
      yield { ...plan, model: model.with(i, { ...response, pieces: response.pieces >> 1 }) }
    }
  }
  for (const [i, operations] of clients.entries()) {
    for (const [j, operation] of operations.entries()) {
      if (operation.giveUpAfter === undefined) continue
      const { giveUpAfter: _, ...patient } = operation
      yield { ...plan, clients: clients.with(i, operations.with(j, patient)) }
    }
  }
}

/**
 * The shortest plan it can find for which `fails` still holds.
 *
 * @param maxTries plans that are run at most
 */
export const shrink = <P>(
  plan: P,
  fails: (plan: P) => boolean,
  smaller: (plan: P) => Iterable<P>,
  maxTries = 600,
): { readonly plan: P; readonly tries: number } => {
  let shortest = plan
  let tries = 0
  const once = (): boolean => {
    for (const candidate of smaller(shortest)) {
      if (tries >= maxTries) return false
      tries++
      if (fails(candidate)) {
        shortest = candidate
        return true
      }
    }
    return false
  }
  while (once());
  return { plan: shortest, tries }
}

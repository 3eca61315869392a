/** What a server asks for, as the end of a message; nothing where it did not say. */
export function askedText(challenge: string | undefined): string {
  return isSaid(challenge) ? `; the server asks for ${challenge}` : "";
}

/** Whether a challenge says anything: a server may refuse without one, or with one that is empty. */
export function isSaid(challenge: string | undefined): challenge is string {
  return challenge !== undefined && challenge.trim() !== "";
}

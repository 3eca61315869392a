import type { CredentialContext, FetchLike, SecurityScheme } from "a2a-lease";

/** What a login server was asked. */
export interface LoginRequest {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | null;
  readonly form: Readonly<Record<string, string>>;
}

/** What it answers: JSON with a status of success, or any response. */
export type LoginAnswer = Response | Readonly<Record<string, unknown>>;

/** A login server in memory that gives out `token-1`, `token-2`, and so on, and remembers what it was asked. */
export function createLoginServer(url = "https://login.example") {
  const requests: LoginRequest[] = [];
  const answers: LoginAnswer[] = [];
  let hold: Promise<void> | undefined;
  let count = 0;

  const fetch: FetchLike = async (input, { method = "GET", headers, body }) => {
    const { pathname, origin } = new URL(input);
    const form = Object.fromEntries(new URLSearchParams(body === undefined ? "" : String(body)));
    requests.push({ method, path: pathname, authorization: new Headers(headers).get("authorization"), form });
    await hold;
    if (origin !== url) return json({ error: "wrong_server" }, 500);
    if (pathname.includes("/.well-known/")) {
      return json({
        issuer: url,
        token_endpoint: `${url}/token`,
        authorization_endpoint: `${url}/authorize`,
        device_authorization_endpoint: `${url}/device`,
      });
    }
    const answer = answers.shift();
    if (answer instanceof Response) return answer;
    count += 1;
    return json(answer ?? { access_token: `token-${count}`, token_type: "Bearer", expires_in: 600 });
  };

  return {
    url,
    fetch,
    requests,
    /** Requests for a token. */
    asked: () => requests.filter(({ path }) => path === "/token"),
    /** What is answered next, in order, in place of a new token. */
    answer: (...next: LoginAnswer[]) => void answers.push(...next),
    /** Holds every answer until the returned function is called. */
    pause() {
      let release = () => {};
      hold = new Promise((resolve) => {
        release = resolve;
      });
      return () => {
        hold = undefined;
        release();
      };
    },
  };
}

/** A JSON answer. */
export function json(body: unknown, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
}

/** What a provider is asked with. */
export function contextOf(
  more: Partial<CredentialContext> = {},
  scheme: SecurityScheme = {},
  scopes: readonly string[] = [],
): CredentialContext {
  return {
    origin: "https://agent.example",
    purpose: "call",
    requirements: { alternatives: [], schemes: {} },
    scheme: { name: "oauth", scheme, scopes },
    signal: new AbortController().signal,
    ...more,
  };
}

/** The header of a token. */
export const bearerOf = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

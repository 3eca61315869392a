import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A login server on loopback for devices. */
export interface DeviceLogin extends AsyncDisposable {
  /** Where a device asks for its code. */
  readonly deviceAuthorizationUrl: string;
  /** Where it asks for its token. */
  readonly tokenUrl: string;
}

/** Starts one whose user types in the code before the device asks for the second time. */
export async function startDeviceLogin(makeToken: () => Promise<string>): Promise<DeviceLogin> {
  let askCount = 0;
  const answers: Readonly<Record<string, () => Promise<readonly [number, object]>>> = {
    "/device": async () => [
      200,
      {
        device_code: crypto.randomUUID(),
        user_code: "RIVER-42",
        verification_uri: `${url}/activate`,
        expires_in: 600,
        interval: 1,
      },
    ],
    "/token": async () => {
      askCount += 1;
      if (askCount < 2) return [400, { error: "authorization_pending" }];
      return [200, { access_token: await makeToken(), token_type: "Bearer", expires_in: 600 }];
    },
  };
  const server = createServer(async (request, response) => {
    const [status, body] = (await answers[request.url ?? ""]?.()) ?? [404, {}];
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    deviceAuthorizationUrl: `${url}/device`,
    tokenUrl: `${url}/token`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

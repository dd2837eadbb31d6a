// The certified oidc-provider for the tests: one client, PKCE required, some accounts, its own login pages.
import { createServer } from 'node:http';

const { issuer, port, callback, secret, conform, library } = JSON.parse(process.argv[2]);
const { default: Provider } = await import(library);
const accounts = {
  ada: { preferred_username: 'ada', name: 'Ada Lovelace', email: 'ada@example.net', email_verified: true, groups: ['net-admins'] },
  grace: { preferred_username: 'grace', groups: [] },
  alan: { preferred_username: 'alan', email: 'alan@example.net', email_verified: true },
  edsger: { preferred_username: 'edsger', groups: 'lab, net-admins' },
};
const provider = new Provider(issuer, {
  clients: [{
    client_id: 'netautod-tests',
    client_secret: secret,
    redirect_uris: [callback],
    grant_types: ['authorization_code'],
    response_types: ['code'],
  }],
  pkce: { required: () => true },
  claims: { openid: ['sub'], profile: ['preferred_username', 'name', 'groups'], email: ['email', 'email_verified'] },
  conformIdTokenClaims: conform,
  findAccount: (context, id) => accounts[id] && {
    accountId: id,
    claims: async () => ({ sub: id, ...accounts[id] }),
  },
  cookies: { keys: ['only for tests'] },
});
createServer(provider.callback()).listen(port, '127.0.0.1', () => console.log('ready'));

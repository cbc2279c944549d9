/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of a connection, and frames that only their receiver can read; see vftr-peers(7). */
#include <string.h>

#include "nodeagent/net/tcp/internal.h"
#include "nodeagent/base/util.h"

/* The halves of a frame, each sealed for itself: lengths are believed before content has come. */
enum half { FRAME_HEAD, FRAME_CONTENT };

/* No two texts under one key have the same. */
struct nonce {
	uint64_t number;
	uint32_t half;
} __attribute__((packed));

_Static_assert(sizeof(struct nonce) == crypto_aead_chacha20poly1305_ietf_NPUBBYTES, "no padding");
_Static_assert(TCP_TAG_BYTES == crypto_aead_chacha20poly1305_ietf_ABYTES, "of the library");
_Static_assert(TCP_KEY_BYTES == crypto_aead_chacha20poly1305_ietf_KEYBYTES, "of the library");
_Static_assert(TCP_SHARE_BYTES == crypto_scalarmult_BYTES &&
		       TCP_SHARE_BYTES == crypto_scalarmult_SCALARBYTES,
	"of the library");

void tcp_draw_share(struct tcp_meeting *m, unsigned char share[TCP_SHARE_BYTES])
{
	randombytes_buf(m->own, sizeof(m->own));
	crypto_scalarmult_base(share, m->own);
}

bool tcp_keys(const struct tcp *t, const struct tcp_meeting *m, struct tcp_keys *keys)
{
	unsigned char common[crypto_scalarmult_BYTES];
	const bool real =
		!crypto_scalarmult(common, m->own, m->dialed ? m->welcome.share : m->hello.share);

	if (real) {
		tcp_sign(t, m, "dialer's frames", common, sizeof(common), keys->of_dialer);
		tcp_sign(t, m, "listener's frames", common, sizeof(common), keys->of_listener);
	}
	sodium_memzero(common, sizeof(common));
	return real;
}

static void encrypt(const unsigned char *key, uint64_t number, enum half half, unsigned char *to,
	const void *from, size_t bytes)
{
	const struct nonce nonce = {number, half};

	crypto_aead_chacha20poly1305_ietf_encrypt(
		to, NULL, from, bytes, NULL, 0, NULL, (const unsigned char *)&nonce, key);
}

static bool decrypt(const unsigned char *key, uint64_t number, enum half half, void *to,
	const unsigned char *from, size_t bytes)
{
	const struct nonce nonce = {number, half};

	return !crypto_aead_chacha20poly1305_ietf_decrypt(to, NULL, NULL, from,
		bytes + TCP_TAG_BYTES, NULL, 0, (const unsigned char *)&nonce, key);
}

size_t tcp_content_sealed(size_t bytes)
{
	return bytes ? bytes + TCP_TAG_BYTES : 0;
}

unsigned char *tcp_frame_seal(const unsigned char *key, uint64_t number, const struct tcp_frame *f,
	const void *content, size_t *bytes)
{
	unsigned char *sealed;

	*bytes = TCP_FRAME_SEALED + tcp_content_sealed(f->bytes);
	sealed = xmalloc(*bytes);
	encrypt(key, number, FRAME_HEAD, sealed, f, sizeof(*f));
	if (f->bytes)
		encrypt(key, number, FRAME_CONTENT, sealed + TCP_FRAME_SEALED, content, f->bytes);
	return sealed;
}

bool tcp_frame_open(const unsigned char *key, uint64_t number,
	const unsigned char sealed[TCP_FRAME_SEALED], struct tcp_frame *f)
{
	return decrypt(key, number, FRAME_HEAD, f, sealed, sizeof(*f));
}

bool tcp_content_open(
	const unsigned char *key, uint64_t number, const struct tcp_frame *f, char *content)
{
	const bool is_right = !f->bytes || decrypt(key, number, FRAME_CONTENT, content,
						   (const unsigned char *)content, f->bytes);

	content[f->bytes] = '\0';
	return is_right;
}

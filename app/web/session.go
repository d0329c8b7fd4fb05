package web

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// MinKey is how many bytes a session key has at least.
const MinKey = 32

// A session is someone who logged in. It lives in a cookie that only servers with the
// key can read, so any of them knows it.
type session struct {
	ID      string    `json:"id"` // of its own, for the token in forms
	Login   string    `json:"login"`
	UserID  int64     `json:"user"`
	Token   string    `json:"token"`
	Expires time.Time `json:"expires"`
}

// A sealer makes cookies that no one else can read or make.
type sealer struct {
	aead   cipher.AEAD
	mac    []byte
	before *sealer // with the key before, whose cookies and forms count as well; nil: none do
}

// newSealers is a sealer with a key, and the one before unless that is empty.
func newSealers(key, before []byte) (*sealer, error) {
	s, err := newSealer(key)
	if err == nil && len(before) > 0 {
		s.before, err = newSealer(before)
	}
	return s, err
}

func newSealer(key []byte) (*sealer, error) {
	if len(key) < MinKey {
		return nil, fmt.Errorf("session key: want %d characters or more, have %d", MinKey, len(key))
	}
	derive := func(use string) ([]byte, error) { return hkdf.Key(sha256.New, key, nil, "ycbot "+use, 32) }
	secret, err := derive("cookies v1")
	if err != nil {
		return nil, fmt.Errorf("session key: %w", err)
	}
	mac, err := derive("forms v1")
	if err != nil {
		return nil, fmt.Errorf("session key: %w", err)
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, fmt.Errorf("session key: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return &sealer{aead: aead, mac: mac}, err
}

// seal makes the value of a cookie; it counts under its own name only.
func (s *sealer) seal(name string, v any) (string, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, plain, []byte(name))), nil
}

func (s *sealer) open(name, value string, v any) error {
	sealed, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil {
		return err
	}
	plain, err := s.aead.Open(nil, nil, sealed, []byte(name))
	if err != nil && s.before != nil {
		return s.before.open(name, value, v)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(plain, v)
}

func (s *sealer) proof(of *session) []byte {
	mac := hmac.New(sha256.New, s.mac)
	mac.Write([]byte(of.ID))
	return mac.Sum(nil)
}

// token is what the forms of a session carry. It is masked, another time in another way:
// pages are compressed and have words of strangers in them, and their sizes would give
// away what is always the same.
func (s *sealer) token(of *session) string {
	mask := make([]byte, sha256.Size)
	_, _ = rand.Read(mask) // it never fails
	hidden := make([]byte, sha256.Size)
	subtle.XORBytes(hidden, mask, s.proof(of))
	return hex.EncodeToString(append(mask, hidden...))
}

// holds reports whether a form carries the token of a session.
func (s *sealer) holds(token string, of *session) bool {
	raw, err := hex.DecodeString(token)
	if err != nil || len(raw) != 2*sha256.Size {
		return false
	}
	proof := make([]byte, sha256.Size)
	subtle.XORBytes(proof, raw[:sha256.Size], raw[sha256.Size:])
	return hmac.Equal(proof, s.proof(of)) || s.before != nil && s.before.holds(token, of)
}

// cookie names one of ours. The prefix has browsers take it from https alone.
func (s *Site) cookie(name string) string {
	if s.secure && s.base == "" {
		return "__Host-ycbot-" + name
	}
	return "ycbot-" + name
}

func (s *Site) setCookie(w http.ResponseWriter, name, value string, life time.Duration) {
	c := &http.Cookie{
		Name: s.cookie(name), Value: value, Path: s.base + "/", HttpOnly: true, Secure: s.secure, SameSite: http.SameSiteLaxMode,
		MaxAge: int(life.Seconds()),
	}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// readCookie opens a cookie of ours; false where there is none, or it is not ours.
func (s *Site) readCookie(r *http.Request, name string, v any) bool {
	c, err := r.Cookie(s.cookie(name))
	return err == nil && s.cookies != nil && s.cookies.open(name, c.Value, v) == nil
}

// viewer finds out who looks.
func (s *Site) viewer(w http.ResponseWriter, r *http.Request) (*viewer, error) {
	v := &viewer{}
	var have session
	if s.readCookie(r, "session", &have) && s.Now().Before(have.Expires) {
		v.session = &have
	}
	if s.shut(v) {
		return v, nil
	}
	err := s.see(r.Context(), v)
	if errors.Is(err, ErrToken) {
		s.setCookie(w, "session", "", 0)
		if v = (&viewer{}); s.shut(v) {
			return v, nil
		}
		err = s.see(r.Context(), v)
	}
	return v, err
}

// maxForm is how much a form may hold.
const maxForm = 64 << 10

// checkPost refuses what no page of ours sent.
func (s *Site) checkPost(w http.ResponseWriter, r *http.Request, v *viewer) error {
	refused := &httpError{http.StatusForbidden, "This was not sent by a page of this server. Go back, load the page again, and try once more."}
	if s.csrf.Check(r) != nil {
		return refused
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if v.session == nil || !s.cookies.holds(r.PostFormValue("csrf"), v.session) {
		return refused
	}
	return nil
}

// nonce is a word that no one guesses.
func nonce() string { return rand.Text() }

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}

// Ycbot-blobs speaks to buckets of S3, Google Cloud Storage and Azure for ycbot, which
// starts it by itself: the libraries of the clouds are as large as ycbot.
//
//	ycbot-blobs URL
//
// It answers HTTP on the socket that is its file 3, one path for each key: PUT stores, GET
// reads (404: there is nothing), DELETE removes, and GET /?prefix=P lists keys as JSON. Its
// first line of output is "ready", or says why not. It ends when its input does.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/s3blob"    // s3://
	"gocloud.dev/gcerrors"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: ycbot-blobs URL; ycbot starts it where YCBOT_BLOB_URL names a bucket of a cloud")
		os.Exit(3)
	}
	if err := run(context.Background(), os.Args[1], os.NewFile(3, "socket"), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stdout, strings.ReplaceAll(err.Error(), "\n", " "))
		os.Exit(1)
	}
}

// run serves the bucket at an address until in ends.
func run(ctx context.Context, address string, socket *os.File, in io.Reader, out io.Writer) error {
	bucket, err := blob.OpenBucket(ctx, address)
	if err != nil {
		return err
	}
	l, err := net.FileListener(socket)
	if err != nil {
		return errors.Join(errors.New("file 3 is not a socket: ycbot starts this program by itself"), err, bucket.Close())
	}
	server := &http.Server{Handler: handler(bucket), ReadHeaderTimeout: time.Minute}
	go func() {
		_, _ = io.Copy(io.Discard, in) // until ycbot closes it, or is no more
		_ = server.Close()
	}()
	fmt.Fprintln(out, "ready")
	err = server.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	socketFile := l.Addr().String()
	_, _ = os.Remove(socketFile), os.Remove(filepath.Dir(socketFile)) // of a ycbot that was killed
	return errors.Join(err, bucket.Close())
}

// longest is more than any blob of ycbot's has.
const longest = 64 << 20

// handler answers for a bucket.
func handler(bucket *blob.Bucket) http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, do func(w http.ResponseWriter, r *http.Request, key string) error) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			err := do(w, r, strings.TrimPrefix(r.URL.Path, "/"))
			switch {
			case err == nil:
			case gcerrors.Code(err) == gcerrors.NotFound:
				http.Error(w, "not found", http.StatusNotFound)
			default:
				http.Error(w, err.Error(), http.StatusBadGateway)
			}
		})
	}
	handle("PUT /", func(_ http.ResponseWriter, r *http.Request, key string) error {
		data, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, longest))
		if err != nil {
			return err
		}
		return bucket.WriteAll(r.Context(), key, data, &blob.WriterOptions{ContentType: "application/gzip"})
	})
	handle("DELETE /", func(_ http.ResponseWriter, r *http.Request, key string) error {
		err := bucket.Delete(r.Context(), key)
		if gcerrors.Code(err) == gcerrors.NotFound {
			return nil
		}
		return err
	})
	handle("GET /{$}", func(w http.ResponseWriter, r *http.Request, _ string) error {
		keys := []string{}
		for list := bucket.List(&blob.ListOptions{Prefix: r.URL.Query().Get("prefix")}); ; {
			object, err := list.Next(r.Context())
			if errors.Is(err, io.EOF) {
				return json.NewEncoder(w).Encode(keys)
			}
			if err != nil {
				return err
			}
			keys = append(keys, object.Key)
		}
	})
	handle("GET /", func(w http.ResponseWriter, r *http.Request, key string) error {
		object, err := bucket.NewReader(r.Context(), key, nil)
		if err != nil {
			return err
		}
		defer object.Close()
		if _, err := io.Copy(w, object); err != nil {
			panic(http.ErrAbortHandler) // a part must not look like the whole
		}
		return nil
	})
	return mux
}

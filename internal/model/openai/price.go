package openai

import "github.com/ycbot/ycbot/internal/model"

// ListPrices returns the embedded table of prices.
func ListPrices() (model.Rates, error) { return model.ListPrices() }
